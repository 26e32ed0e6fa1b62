"""Other people's programs against this server: the conformance suite of MCP, and clients (README.md)."""
