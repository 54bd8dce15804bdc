"""Two sides of one application: their outputs compared."""
