"""Starts an application next to the one that it is to take over from, and takes it away again."""
