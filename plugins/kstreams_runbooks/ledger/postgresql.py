"""A connection to PostgreSQL that ends by itself if the server stops answering.

The server ends a statement and a wait for a lock, and the kernel ends a connection whose other side acknowledges
nothing (ledger/database.py). A frozen server does neither: its kernel acknowledges for it. Only the client is left.
"""

from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, TypeVar

from psycopg import Connection, OperationalError
from sqlalchemy import Engine, event

if TYPE_CHECKING:
    from psycopg.abc import PQGen

_T = TypeVar("_T")

# Later than the server's own limit of a statement, whose error names the reason.
_SILENCE_S: Final = 70.0
# The first statements of a process look at the schema's version alone.
_FIRST_SILENCE_S: Final = 20.0


class LimitedConnection(Connection[Any]):
    """Closes, with an OperationalError, if nothing arrives for `silence_s` while a call waits."""

    silence_s = _SILENCE_S

    def wait(self, gen: "PQGen[_T]", *arguments: Any, **options: Any) -> _T:
        """Every call that needs an answer of the server waits here."""
        return super().wait(self._limited(gen), *arguments, **options)

    def _limited(self, gen: "PQGen[_T]") -> "PQGen[_T]":
        # psycopg continues a generator every 0.1 s, with 0 as long as nothing has arrived.
        until = monotonic() + self.silence_s
        try:
            wanted = next(gen)
            while True:
                ready = yield wanted
                if ready:
                    until = monotonic() + self.silence_s
                elif monotonic() > until:
                    # Closed, it is not asked to roll back, which would wait as long again.
                    self.close()
                    raise OperationalError(f"no answer to a statement within {self.silence_s:g} s")
                wanted = gen.send(ready)
        except StopIteration as ended:
            result: _T = ended.value
            return result


def limit_silence(engine: Engine, answered: Callable[[], bool]) -> None:
    """Make each connection of an engine a limited one; `answered`: whether the server has answered this process yet."""

    def connect(_dialect: object, _record: object, given: list[Any], options: dict[str, Any]) -> LimitedConnection:
        made = LimitedConnection.connect(*given, **options)
        made.silence_s = _SILENCE_S if answered() else _FIRST_SILENCE_S
        return made

    event.listen(engine, "do_connect", connect)
