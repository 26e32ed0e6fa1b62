"""Between MCP and `calls`: tools/list, tools/call, and questions to the person at the client."""
