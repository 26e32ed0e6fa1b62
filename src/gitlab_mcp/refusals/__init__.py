"""What went wrong with a request to GitLab becomes one `Failure` that names the cause.

`translate.py` takes any exception of a call:

    no usable answer ............................ transport_failures.py
    errors in a GraphQL answer .................. graphql_errors.py
    a refusal of the REST API ................... decide.py, the tree below
    then, on GitLab.com ......................... gitlab_com.py: nobody is sent to an administrator

`body.py` reads the body. The first line that fits decides:

    429  rate limit ............................. by_status.py
    5xx  GitLab failed .......................... by_status.py
    3xx  the project was renamed ................ by_status.py
    4xx
    ├── no JSON: web page, proxy, encoding ...... by_status.py
    ├── OAuth error: token dead, scope too small  token_problems.py; of a fine-grained token: fine_grained.py
    ├── 401, 403, 404 to the token of a job ..... token_problems.py
    ├── only a status, such as `403 Forbidden`
    │   ├── 401  token dead ..................... token_problems.py
    │   │        token alive .................... causes.py, CAUSES_OF_401
    │   ├── 403 ................................. causes.py, CAUSES_OF_403
    │   ├── 404 ................................. not_found.py
    │   │   ├── `404 Project Not Found` ......... the project, group or namespace
    │   │   ├── `404 Ref Not Found` ............. the ref; likewise branch, commit, file, label, user ...
    │   │   │                                     unless causes.py, CAUSES_OF_404_RECORD
    │   │   ├── `404 Not found` ................. the same, without a name: the fields of the path
    │   │   ├── `404 Not Found` ................. causes.py, CAUSES_OF_404_UNEXPLAINED
    │   │   └── under the key `error` ........... no such route; causes.py, CAUSES_OF_404_ROUTE
    │   ├── 405 to a merge ...................... merge_blockers.py
    │   └── 400, 405, 409, 412, 413, 422 ........ causes.py, CAUSES_OF_OTHER_STATUSES; then by_status.py
    └── a sentence, or errors by field .......... by_sentence.py
        ├── a feature above the tier is needed .. the tier, unless the sentence is about values
        ├── the sentence names a cause .......... known_sentences.py has the sentences and their causes
        │   ├── `Reference not found` ........... the ref; likewise `does not exist`, `no such`
        │   ├── permission, switch .............. causes.py: is the project read-only, the switch off?
        │   └── values .......................... sentence_findings.py; field_errors.py: GitLab's fields as ours
        └── an unknown sentence ................. 401 and 403: causes.py, CAUSES_OF_403
                                                  others: by_route.py, then by_status.py

Where several causes are possible, `causes.py` looks at each: a tier too low, an add-on missing, the project archived or
marked for deletion, a feature switched off, a role too low, what the endpoint is known to mean (`by_route.py`).
`case.py` holds what they look at: the request, the body, the token, the project or group. `findings.py` picks the one
with the most confidence.

A NOT_FOUND then says which field names what is missing (`missing.py`), a push that a protected branch refuses the way
round it (`protected_branches.py`), and `alternatives.py` adds the calls that help on.
An empty list because of a ref is no refusal: `success_checks/empty_lists.py`.
"""
