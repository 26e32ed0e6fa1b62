"""Files, branches and code.

- `file_editing.py`: edits files of a repository in one commit
- `text_edits.py`: replaces text where it stands exactly once, or says what is like it
- `line_history.py`: why lines of a file are there
- `group_code_search.py`: searches the code of a group project by project
- `codeowners_file.py`: who owns a path; `path_patterns.py`: which paths a pattern of that file fits
- `branch_renaming.py`: a branch under another name
- `cherry_picking.py`: picks a commit onto a new branch
- `branch_existence.py`: refuses a write that names a missing branch
"""
