"""Turns GitLab's answers into what an agent reads. Asks GitLab nothing.

Every answer goes through these:

- `present_answer.py`: the steps below, in their order
- `secret_redaction.py`: keeps tokens and passwords out
- `shown_fields.py`: picks the fields that an action shows
- `chosen_fields.py`: the fields that the caller named instead
- `written_fields.py`: of a write, what was sent as GitLab now has it
- `envelope.py`: the names that we speak with, and other names for members of GitLab's that have one of them
- `list_pages.py`: the total and the next page of a list, and why it is empty
- `row_urls.py`: the addresses of a list's rows as one template
- `text_cleaning.py`: removes invisible characters
- `size_limit.py`: cuts to `max_bytes`, and says what was left out
- `metadata.py`: adds `untrusted`, `truncated` and `warnings`
- `untrusted_text.py`: marks text that other people wrote
- `content_blocks.py`: JSON, text and image as separate blocks
- `common_values.py`: in the JSON, what all rows of a list have alike, once
- `markdown.py`: the same for people

Some kinds of answers are read in a way of their own:

- `diffs.py`: diffs
- `file_contents.py`: files, artifacts and exports
- `archives.py`: the files in an archive
- `job_logs.py`: part of a job log
- `job_log_lines.py`: the lines of a job log as a terminal shows them
- `job_log_errors.py`: the error in the log of a failed job
- `job_explanations.py`: why a job failed, waits or has no log
- `pipeline_test_reports.py`: the failed tests of a pipeline
- `custom_roles.py`: a custom role
- `short_refs.py`: `main` where GitLab keeps `refs/heads/main`
- `notification_settings.py`: which notifications are on, in place of some twenty flags
"""
