"""Records what GitLab answers to cassettes, without secrets, and answers from them later."""
