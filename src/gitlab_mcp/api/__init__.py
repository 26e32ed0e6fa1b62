"""What GitLab's REST API is, as data: its endpoints, and what they need from a project."""
