"""Command lines of a declaration: lists of words with placeholders such as {release}; no shell ever sees them."""

from collections.abc import Collection, Sequence
from string import Formatter

_SHOWN = 60


def placeholders(word: str, known: Sequence[str]) -> set[str]:
    """Names of the placeholders in one word; ValueError for one that is not `known` and for a stray brace."""
    try:
        fields = [(name, form or how) for _, name, form, how in Formatter().parse(word) if name is not None]
    except ValueError as error:
        raise ValueError(f"has a stray brace ({error}); write {{{{ for a brace that is meant") from None
    names = {name for name, _ in fields}
    if unknown := names - set(known):
        *most, last = (f"{{{name}}}" for name in known)
        listed = f"known are {', '.join(most)} and {last}" if most else f"known is {last}"
        raise ValueError(f"has the placeholder {{{min(unknown)[:_SHOWN]}}}; {listed}")
    # A width such as {release:>1000000000} would fill the memory.
    if formatted := [name for name, form in fields if form]:
        raise ValueError(f"has a format or a conversion in {{{formatted[0]}}}; write the name alone")
    return names


def require(words: Sequence[str], known: Sequence[str], needed: Collection[Collection[str]]) -> None:
    """ValueError unless the words together have at least one placeholder of each group of `needed`."""
    found = {name for word in words for name in placeholders(word, known)}
    for group in needed:
        if not found & set(group):
            raise ValueError(
                f"has no {' or '.join(f'{{{name}}}' for name in group)}, so the command could not know it; add it"
            )
