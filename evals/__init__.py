"""How well a chat model does everyday jobs through a listing of tools: see README.md beside this file."""
