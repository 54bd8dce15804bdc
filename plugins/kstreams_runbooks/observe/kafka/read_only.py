"""A face of a client that lets only named reading methods through."""

from typing import Any

from kstreams_runbooks.errors import WriteRefused


class ReadOnly:
    """Hands out `reads` of `client` and nothing else; WriteRefused for every other name.

    A list of what is allowed, not of what is forbidden: a method that a later release adds is refused until somebody
    has looked at it.
    """

    __slots__ = ("_reads",)

    def __init__(self, client: object, reads: frozenset[str]) -> None:
        self._reads = {name: getattr(client, name) for name in reads}

    def __getattr__(self, name: str) -> Any:
        """One allowed method."""
        try:
            return self._reads[name]
        except KeyError:
            raise WriteRefused(
                f"{name} is not among the reading methods ({', '.join(sorted(self._reads))}): "
                "a reader changes nothing; writes belong into act"
            ) from None
