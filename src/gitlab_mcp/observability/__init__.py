"""What the operator sees of every call: call log, audit, logs, metrics, Sentry. `log_redaction.py` keeps tokens out."""
