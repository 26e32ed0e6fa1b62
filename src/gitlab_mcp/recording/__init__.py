"""Record exchanges with GitLab to cassettes and replay them, without the secrets they held."""
