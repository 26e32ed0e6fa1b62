"""MCP on one side, `App` on the other: tools/list, tools/call, prompts, and questions to the person at the client."""
