"""Jobs made of several requests.

- `batch.py`: many calls made as one
- `find_actions.py`: which calls do what is asked for
- `steps.py`: writes made of several: may each be made, and what is told where a later one fails
- `text_edits.py`: replaces text where it stands exactly once, or says what is like it
- `file_editing.py`: edits files of a repository in one commit
- `branch_renaming.py`: a branch under another name
- `merge_request_revert.py`: takes a merge request back by another one
- `deployment_rollback.py`: deploys an earlier success again
- `issue_bulk_update.py`: changes many issues alike
- `unchanged_since.py`: updates that overwrite nothing which somebody else wrote since it was read
- `batch_references.py`: values that a call of a batch takes from the results of earlier ones
- `delayed_deletion.py`: what became of a project or group that was deleted
- `membership.py`: where members have their roles from
- `member_refusals.py`: writes about members that GitLab refuses without naming the cause
- `who_can.py`: who may see a project, or push or merge to a branch
- `project_paths.py`: the path of a project beside its number
- `name_lookup.py`: names in place of numbers
- `variable_scopes.py`: which of several CI/CD variables of one key is meant
- `board_issues.py`: the open issues of each list of a board
- `work_items.py`: work items as GraphQL knows them, in the words of REST
- `work_item_scopes.py`: the place, or the one work item, that an action is about
- `inbox.py`: what waits for the caller
- `counts.py`: a list counted by label, author, week…
- `milestone_report.py`: how a milestone stands
- `generic_packages.py`: what names a file of a generic package
- `access_overview.py`: what beside people has access to a project
- `explain_access.py`: what works for a caller at a place, and why the rest does not

Why did a pipeline fail?

- `failure_facts.py`: reads jobs, logs, tests and downstream pipelines
- `culprits.py`: which commits broke its jobs, and which jobs are flaky
- `failure_digest.py`: says why it failed
- `job_log_ranges.py`: part of a job's log by its bytes

Pipelines otherwise:

- `pipeline_comparison.py`: what is different between two
- `waiting.py`: asks now and then until something has ended
- `awaited.py`: what is told of what was waited for

Can a merge request be merged?

- `merge_readiness_facts.py`: reads checks, approvals, threads and jobs
- `merge_readiness.py`: says what blocks it
- `branch_existence.py`: refuses a write that names a missing branch

Reviews of merge requests:

- `review_bundle.py`: reads all that a reviewer needs
- `review_states.py`: what the reviewers in a list of merge requests have said
- `merge_request_diffs.py`: reads the diff of one file
- `open_threads.py`: the threads that are not resolved
- `thread_filters.py`: threads without what nobody asked for
- `review_position.py`: the position of a comment on a line or a file
- `diff_lines.py`: the old and the new number of each line of a diff
- `suggestions.py`: the suggestions of a merge request, and their change made as a commit
- `draft_notes.py`: which drafts can be published
- `review_comments.py`: comments of one call as drafts, all of them or none
- `review_submission.py`: publishes the drafts and gives the verdict
- `codeowners_file.py`: who owns a path
- `path_patterns.py`: which paths a pattern of that file fits
"""
