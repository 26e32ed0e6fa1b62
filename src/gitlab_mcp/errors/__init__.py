"""What can go wrong, as data; and the way from any exception to one answer that teaches."""
