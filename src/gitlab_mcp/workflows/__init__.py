"""Jobs made of several requests to GitLab: failure digests, reviews, merge readiness, code owners."""
