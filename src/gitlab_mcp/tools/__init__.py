"""The catalogue: one module per GitLab noun, with all its actions."""
