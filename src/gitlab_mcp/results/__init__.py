"""From what GitLab answered to what an agent wants to read."""
