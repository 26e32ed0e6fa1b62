"""Members, and what they may do.

- `explain_access.py`: what works for a caller at a place, and why the rest does not
- `membership.py`: where members have their roles from
- `member_refusals.py`: writes about members that GitLab refuses without naming the cause
- `who_can.py`: who may see a project, or push or merge to a branch
- `access_overview.py`: what beside people has access to a project
"""
