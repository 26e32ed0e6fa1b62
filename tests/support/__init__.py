"""What tests, scripts and benchmarks share: a GitLab to talk to, servers to talk through, recorded questions."""
