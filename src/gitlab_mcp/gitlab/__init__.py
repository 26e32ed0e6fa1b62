"""How we talk to GitLab."""
