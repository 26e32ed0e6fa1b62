"""How requests arrive and answers leave: stdio and HTTP.

- `front.py`: the first answers over standard input and output, before anything large is imported
- `standard_streams.py`: standard input and output for the protocol alone
- `stdio.py`: the server over them
- `http/`: the server over HTTP
"""
