"""May this call happen? Each guard looks at one validated call; `rules.py` puts the guards in order."""
