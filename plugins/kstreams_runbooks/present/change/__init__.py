"""A change for people and programs: one document, and its text, headline, blocks and sections."""
