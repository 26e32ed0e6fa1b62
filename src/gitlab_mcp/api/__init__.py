"""What GitLab's REST API is, as packaged data. Nothing here is read while the server starts.

`endpoints.jsonl` has one endpoint a line, written by `scripts/make_api.py`. Its first line says from which versions
of GitLab each kind of fact was read. A row has:

endpoint    as GitLab spells it: `GET /projects/:id/labels`
params      what GitLab's own list of parameters says, those of the path too: the type, with `!` where it is required,
            or an object with type, values, default and ee_only. Missing where the endpoint is only documented
edition     `EE` where the free edition has no such route
docs        where it is documented, the page about it first: page, section, tier as the page says it, and the page's
            own spelling (`as`) where it is another
role        the least role whose call was not refused, measured. Too high where it was measured on a protected branch,
            too low where the thing was gone; of 19.3 where it was settled against GitLab's policies
beside      roles below that one that are let in all the same: a planner reads files
custom      what a custom role (Ultimate) adds to be let in with a lower one, from GitLab 19.3's policies, and only what
            17.2 had, too
deprecated  true
tokens      what it asks of tokens other than a plain one: `permissions` of a fine-grained token, as a person picks
            them, `at` which of project, group, user, instance they are given, or `no`, GitLab's word for why it takes
            none; `job` where it takes the token of a CI/CD job, with the policies that a project may ask for

rules       which parameters go together, as the application checks it: `["exactly_one_of", "body", "resolved"]`
answer      the fields of what a read answers, in the newest version that was read for it

What is not the same in all versions says so: a row and a parameter by `since` and `until`, a plain value as
`{"is": value, "since": version}`, and what changed as a list of these. `since` is the first version that was read and
has it, `until` the last one. Where 17.2 was read and then 19.3, nobody knows of 18.5: it is not said to have what only
one of the two has. An endpoint that only the documentation names is at least as old as that. The documentation is
that of its newest version alone; of 17.2 the routes that parts of GitLab call among themselves were not read.

The switch of a project behind an endpoint follows from its path: `switches.py`. The paid feature is in
`tier_features.yaml`. `derivation.py` says what of all this holds for an action.
"""
