"""Checks a set-up (URL, TLS, token, scopes, version, clock) and says how to mend what is wrong. Changes nothing."""
