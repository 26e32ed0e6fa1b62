"""The official conformance suite of MCP: `make conformance`."""
