"""How requests arrive and answers leave: stdio and HTTP."""
