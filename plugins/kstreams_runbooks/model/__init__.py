"""Values: frozen dataclasses that need only the standard library."""
