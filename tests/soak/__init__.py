"""Drains at moments that nobody chose, against the running application."""
