"""What may happen, and what may not."""
