"""Promises about all actions: a new one is held to them by being declared."""
