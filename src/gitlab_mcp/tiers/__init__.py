"""GitLab's tiers: the feature map, what a call requires, and which tier is in effect for it."""
