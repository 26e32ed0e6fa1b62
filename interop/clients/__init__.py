"""Clients and agent libraries that people use, each in an environment of its own: `make clients`."""
