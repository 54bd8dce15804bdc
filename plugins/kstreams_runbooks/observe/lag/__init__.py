"""What groups have left to read, counted and dated."""
