"""Accounts that the person signed in to: where their tokens are kept, how they are renewed and given up.

A server that was given a token imports `given_token.py` alone, and the rest is imported with the first call.
"""
