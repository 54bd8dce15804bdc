"""Files, YAML and JSON from outside, read within limits: their content cannot hang, flood or end a process.

Each error is BadInput and the end of a sentence; the caller puts the name of the file or the field before it.
"""

# Deeper than any declaration (our deepest field is 6 levels down); every reader of the values recurses.
DEEPEST = 40
# Keys, values, lists and mappings, each alias counted in full: 500 instances have about 6,000.
MOST_NODES = 50_000
# A Java long has 19 digits; a number of a megabyte takes minutes to compute.
LONGEST_NUMBER = 100
_SHOWN = 40


def beginning(text: str) -> str:
    """The beginning of some text, printable."""
    shown = repr(text[:_SHOWN])[1:-1]
    return f"{shown}…" if len(text) > _SHOWN else shown
