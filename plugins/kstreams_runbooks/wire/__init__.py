"""Data from other systems: read within a stated time and size, and parsed strictly before use."""
