"""How we talk to GitLab.

A call goes through client, attempt, python_gitlab and transport, and its answer comes back through answers.
"""
