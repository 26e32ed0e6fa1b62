"""Turns GitLab's answers into what an agent reads. Asks GitLab nothing."""
