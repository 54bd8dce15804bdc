"""Answers as JSON, text and Markdown; nothing is read or decided here."""
