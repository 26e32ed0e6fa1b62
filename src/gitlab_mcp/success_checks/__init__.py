"""Successes that are none: what GitLab accepted and did not do, dropped, or answered with nothing."""
