"""One tool call from its arguments to its result: dispatch, batches, and recovery of lost answers."""
