"""What the writers of topics, offsets and groups share: a dry run by default, one client for each write, its errors."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from kstreams_runbooks.errors import Refused, Unreachable, WriteRefused
from kstreams_runbooks.model.writes import ObjectWritten
from kstreams_runbooks.observe.kafka.clients import connect_python, let_in, unreachable
from kstreams_runbooks.observe.kafka.cluster import ClusterReader
from kstreams_runbooks.wording import first_of

log = logging.getLogger(__name__)

# Sentences of one refusal.
_MOST = 5


class PartlyWritten(Refused):
    """A write that failed for some of its objects: `written` has the result for each of them.

    A rerun continues: it leaves what is done as it is.
    """

    def __init__(self, sentence: str, written: Sequence[ObjectWritten]) -> None:
        super().__init__(sentence)
        self.written = tuple(written)


class KafkaWriter:
    """Writes to one cluster. `config` is a librdkafka configuration; a dry run is the default.

    In a dry run a call reads and checks, adds one sentence for each change to `would_write` and sends nothing. What it
    reads before a write is read again for a while if a broker does not answer; a write is sent once.
    """

    def __init__(self, config: Mapping[str, Any], *, dry_run: bool = True) -> None:
        self.would_write: list[str] = []
        self._config = dict(config)
        self._dry_run = dry_run

    def _reader(self) -> ClusterReader:
        """The reader of what is checked before a write."""
        return ClusterReader(self._config, again=log.warning)

    @contextmanager
    def _client(self) -> Iterator[Any]:
        """A client for one write; in a dry run it refuses every writing method (WriteRefused).

        Refused if the brokers are too old for the call. Unreachable if they do not answer: whether they have made the
        change is then unknown, and a rerun reads it.
        """
        from kafka.errors import (
            BrokerResponseError,
            IncompatibleBrokerVersion,
            KafkaError,
            UnsupportedVersionError,
        )

        client = connect_python(let_in(self._config), writable=not self._dry_run)
        try:
            yield client
        except (IncompatibleBrokerVersion, UnsupportedVersionError) as error:
            raise Refused(f"the brokers are too old for this write ({error}); nothing was changed by it") from None
        except BrokerResponseError as error:
            raise Refused(f"the broker answered {type(error).__name__} ({error.description})") from None
        except (KafkaError, OSError) as error:
            why = unreachable(self._config, error)
            raise Unreachable(
                f"{why} Whether they made the change is not known: clear this step, it reads first"
            ) from None
        finally:
            client.close()


def broker_error(what: str, error: type[Exception] | int, grant: str, message: str | None = "") -> str:
    """A broker's refusal of one object as a sentence; with the right to grant if this login lacks it."""
    from kafka.errors import for_code

    kind = for_code(error) if isinstance(error, int) else error
    if "AuthorizationFailed" in kind.__name__:
        return f"{what}: this login may not do this; grant it {grant}"
    return f"{what}: the broker answered {kind.__name__.removesuffix('Error')}{f' ({message})' if message else ''}"


def refuse_if(checked: Sequence[str]) -> None:
    """WriteRefused with every sentence that is not empty, before this writer has written anything."""
    if reasons := [one for one in checked if one]:
        raise WriteRefused(f"{first_of(reasons, _MOST, '; ')}; this write changed nothing")


def demand_written(what: str, written: Sequence[ObjectWritten]) -> tuple[ObjectWritten, ...]:
    """The results; PartlyWritten if any object failed."""
    failed = [one.error for one in written if one.result == "failed"]
    if failed:
        done = len(written) - len(failed)
        raise PartlyWritten(
            f"{what}: {done} of {len(written)} done, {len(failed)} not: {first_of(failed, _MOST, '; ')}; correct "
            "this, then clear this step: it goes on with what is left",
            written,
        )
    return tuple(written)
