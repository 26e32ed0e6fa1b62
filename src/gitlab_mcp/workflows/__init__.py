"""Jobs made of several requests, for the actions of `tools/` that need more than one.

By what they are about: `access/`, `merge_requests/`, `pipelines/`, `planning/`, `repository/`. About anything:

- `find_actions.py`: which calls do what is asked for
- `explain_url.py`: what a URL of this GitLab shows; `page_reads.py`: which reads show a page
- `batch.py`: many calls made as one
- `batch_references.py`: values that a call of a batch takes from the results of earlier ones
- `steps.py`: writes made of several: may each be made, and what is told where a later one fails
- `several_writes.py`: the same write for many things
- `unchanged_since.py`: updates that overwrite nothing which somebody else wrote since it was read
- `attached_files.py`: texts with files that are uploaded first
- `inbox.py`: what waits for the caller
- `project_overview.py`: what a newcomer asks about a project
- `release_plan.py`: what a next release would hold, its version and notes
- `counts.py`: a list counted by label, author, week…

What is meant by a name:

- `name_lookup.py`: names in place of numbers
- `project_paths.py`: the path of a project beside its number
- `variable_scopes.py`: which of several CI/CD variables of one key is meant
- `generic_packages.py`: what names a file of a generic package
- `delayed_deletion.py`: what became of a project or group that was deleted
"""
