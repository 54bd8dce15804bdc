"""Steps that look and plan."""
