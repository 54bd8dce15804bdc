"""Files, YAML and JSON that others give, read within limits: nothing in them hangs, floods or ends a process.

Each error is BadInput and the end of a sentence; whoever reads puts the name of the file or the field before it.
"""
