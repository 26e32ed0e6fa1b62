"""MCP over HTTP for many people: each request stands for itself and acts with its own caller's rights."""

from gitlab_mcp.transports.http.serving import listen, serve
from gitlab_mcp.transports.http.terms import Terms

__all__ = ["Terms", "listen", "serve"]
