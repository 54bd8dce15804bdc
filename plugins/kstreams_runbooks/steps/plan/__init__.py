"""Steps that read and plan."""
