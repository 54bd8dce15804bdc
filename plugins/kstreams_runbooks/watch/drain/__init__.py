"""A drain, read again and again, and its records counted."""
