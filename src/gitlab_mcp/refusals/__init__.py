"""From what went wrong with a request to GitLab to one Failure that names the cause."""
