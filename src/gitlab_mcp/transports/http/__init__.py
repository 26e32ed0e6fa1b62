"""MCP over HTTP, without sessions: each request acts with the rights of the token it brings."""

from gitlab_mcp.transports.http.generated_secret import with_generated_secret
from gitlab_mcp.transports.http.options import HttpOptions
from gitlab_mcp.transports.http.token_checks import TokenChecks
from gitlab_mcp.transports.http.uvicorn_server import listen, serve

__all__ = ["HttpOptions", "TokenChecks", "listen", "serve", "with_generated_secret"]
