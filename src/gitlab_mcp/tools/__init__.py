"""The catalogue: one file a tool, named as the tool."""
