"""A reset: its plan, from its blast radius."""
