"""Reviews of merge requests, whether one can be merged, and taking it back.

- `merge_readiness_facts.py`: reads checks, approvals, threads and jobs
- `merge_readiness.py`: says what blocks it
- `merged_commit.py`: the commit that brought it into its target
- `approved_merge.py`: approves it and merges it
- `merge_request_revert.py`: takes it back by another one

- `review_bundle.py`: reads all that a reviewer needs
- `review_states.py`: what the reviewers in a list of merge requests have said
- `merge_request_diffs.py`: reads the diff of one file
- `open_threads.py`: the threads that are not resolved
- `thread_resolution.py`: resolves all of them
- `thread_filters.py`: threads without what nobody asked for
- `review_position.py`: the position of a comment on a line or a file
- `diff_lines.py`: the old and the new number of each line of a diff
- `suggestions.py`: the suggestions of a merge request, and their change made as a commit
- `draft_notes.py`: which drafts can be published
- `review_comments.py`: comments of one call as drafts, all of them or none
- `review_submission.py`: publishes the drafts and gives the verdict
"""
