"""The evidence of a run as a document to read: Markdown and HTML."""
