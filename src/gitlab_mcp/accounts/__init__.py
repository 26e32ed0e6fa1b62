"""Accounts that the person signed in to: where their tokens are kept, how they are renewed and given up.

Nothing here is imported by a server that was given a token, nor by any before its first call.
"""
