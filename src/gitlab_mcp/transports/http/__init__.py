"""MCP over HTTP, without sessions: each request acts with the rights of the token it brings."""

from gitlab_mcp.transports.http.terms import Terms
from gitlab_mcp.transports.http.uvicorn_server import listen, serve

__all__ = ["Terms", "listen", "serve"]
