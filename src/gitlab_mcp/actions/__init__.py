"""The kernel that tools are written in: Action, Tool, fields, schema, validation, and the registry of all tools."""
