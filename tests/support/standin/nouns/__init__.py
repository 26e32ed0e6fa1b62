"""Nouns that a stand-in GitLab keeps beside its projects and groups: one file each, all of it invented.

Each is added with `StandIn.add` before the project whose paths it answers below.
"""
