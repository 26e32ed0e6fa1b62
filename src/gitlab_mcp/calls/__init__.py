"""One tool call from its arguments to its result: dispatch, and recovery of lost answers."""
