"""A wrapper of a client that passes only the named reading methods."""

from typing import Any

from kstreams_runbooks.errors import WriteRefused


class ReadOnly:
    """Gives access to `reads` of `client` only; WriteRefused for every other name.

    It lists the allowed methods, not the forbidden ones: a method that a later release adds is refused until a
    developer has reviewed it.
    """

    __slots__ = ("_reads",)

    def __init__(self, client: object, reads: frozenset[str]) -> None:
        self._reads = {name: getattr(client, name) for name in reads}

    def __getattr__(self, name: str) -> Any:
        """An allowed method of the client."""
        try:
            return self._reads[name]
        except KeyError:
            raise WriteRefused(
                f"{name} is not among the reading methods ({', '.join(sorted(self._reads))}): "
                "a reader changes nothing; writes belong in act"
            ) from None
