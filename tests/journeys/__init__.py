"""Whole stories, through a real client."""
