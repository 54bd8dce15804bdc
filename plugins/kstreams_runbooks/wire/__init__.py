"""What other systems send: read within a stated time and size, and parsed strictly before anything looks at it."""
