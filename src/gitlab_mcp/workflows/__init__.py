"""Jobs made of several requests, for the actions of `tools/` that need more than one.

Which call, and many of them:

- `find_actions.py`: which calls do what is asked for
- `explain_url.py`: what a URL of this GitLab shows; `page_reads.py`: which reads show a page
- `explain_access.py`: what works for a caller at a place, and why the rest does not
- `batch.py`: many calls made as one
- `batch_references.py`: values that a call of a batch takes from the results of earlier ones
- `steps.py`: writes made of several: may each be made, and what is told where a later one fails

What is going on:

- `inbox.py`: what waits for the caller
- `project_overview.py`: what a newcomer asks about a project
- `milestone_report.py`: how a milestone stands
- `release_plan.py`: what a next release would hold, its version and notes
- `counts.py`: a list counted by label, author, week…
- `board_issues.py`: the open issues of each list of a board

Why did a pipeline fail, and when is it over?

- `failure_facts.py`: reads jobs, logs, tests and downstream pipelines
- `culprits.py`: which commits broke its jobs, and which jobs are flaky
- `failure_digest.py`: says why it failed
- `job_log_ranges.py`: part of a job's log by its bytes
- `pipeline_comparison.py`: what is different between two pipelines
- `waiting.py`: asks now and then until something has ended; `awaited.py`: what is told of it then

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
- `codeowners_file.py`: who owns a path; `path_patterns.py`: which paths a pattern of that file fits

Code, and taking a change back:

- `group_code_search.py`: searches the code of a group project by project
- `line_history.py`: why lines of a file are there
- `file_editing.py`: edits files of a repository in one commit
- `text_edits.py`: replaces text where it stands exactly once, or says what is like it
- `branch_renaming.py`: a branch under another name
- `merge_request_revert.py`: takes a merge request back by another one
- `deployment_rollback.py`: deploys an earlier success again

Issues, work items and updates:

- `issue_bulk_update.py`: changes many issues alike
- `work_items.py`: work items as GraphQL knows them, in the words of REST
- `work_item_scopes.py`: the place, or the one work item, that an action is about
- `unchanged_since.py`: updates that overwrite nothing which somebody else wrote since it was read

Members and access:

- `membership.py`: where members have their roles from
- `member_refusals.py`: writes about members that GitLab refuses without naming the cause
- `who_can.py`: who may see a project, or push or merge to a branch
- `access_overview.py`: what beside people has access to a project

What is meant by a name:

- `name_lookup.py`: names in place of numbers
- `project_paths.py`: the path of a project beside its number
- `variable_scopes.py`: which of several CI/CD variables of one key is meant
- `generic_packages.py`: what names a file of a generic package
- `delayed_deletion.py`: what became of a project or group that was deleted
"""
