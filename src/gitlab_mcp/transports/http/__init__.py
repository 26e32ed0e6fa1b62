"""MCP over HTTP for many people: each request stands for itself and acts with its own caller's rights."""

from gitlab_mcp.transports.http.options import HttpOptions
from gitlab_mcp.transports.http.serving import listen, serve

__all__ = ["HttpOptions", "listen", "serve"]
