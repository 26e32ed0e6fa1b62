"""A GitLab MCP server whose every failure teaches."""

__version__ = "0.1.0"
