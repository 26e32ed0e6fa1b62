"""What the operator sees of every call: the call log, the audit, logs, metrics and Sentry."""
