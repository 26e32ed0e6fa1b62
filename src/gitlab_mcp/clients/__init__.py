"""The MCP clients that people use, and how each is told of this server.

all_clients.py    the one table: names, files, shapes of an entry, what to do afterwards
client.py         what a row of it is
places.py         where a client's file is, on Linux, macOS and Windows
launch.py         the command that a client starts
documents.py      a file with the entry in it, or without it, and everything else as it was
json_text.py      … in JSON, with the comments that VS Code and Zed allow
toml_text.py      … in TOML
yaml_text.py      … in YAML
files.py          reading it, and putting the new one in its place
difference.py     what changes, without what is secret
links.py          links that open a client and ask it to add the server
snippets.py       what a person pastes, for the documents and for --print
"""
