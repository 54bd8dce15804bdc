"""A reset and a retirement: their plans, from the blast radius."""
