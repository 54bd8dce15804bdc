"""The names of a cluster's topics: those that this login may see, and whether others exist.

A broker silently leaves a topic that a login may not Describe out of the metadata and out of a group's committed
offsets. A request by name fails (TOPIC_AUTHORIZATION_FAILED), whether the topic exists or not. Only the log
directories show all topics, to a login that may Describe the cluster (StandardAuthorizer, Kafka 4.3.1;
tests/hostile/test_hidden_topics.py). So only they prove that no topic is hidden.

The assignment of a group's members and the topology that the instances report prove less, and are used for less. They
show a hidden topic that is read now. They cannot prove that no topic is hidden. A consumer that subscribes by pattern
finds a new topic when it refreshes its metadata (metadata.max.age.ms, five minutes by default); until then no member
is assigned the topic, but its records are unread. An application whose own login may not see a topic never reads
it, and runs well.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from threading import RLock
from typing import Final

from kstreams_runbooks.model.readings.readings import Missing

_REFUSED: Final = 29


class TopicNames:
    """`visible` names, and all others that exist: read once, on the first use.

    `look` gives the names of all hidden topics, or why they are not known. `refused` gives, of some names, those that a
    broker neither describes nor reports as unknown, with its error code.
    """

    def __init__(
        self,
        visible: Iterable[str],
        look: Callable[[], frozenset[str] | Missing],
        refused: Callable[[Collection[str]], Mapping[str, int] | Missing],
    ) -> None:
        self.visible = frozenset(visible)
        self._look = look
        self._refused = refused
        self._hidden: frozenset[str] | Missing | None = None
        # Threads read descriptions, and they share one client.
        self._one = RLock()

    @classmethod
    def of(cls, visible: Iterable[str], hidden: Iterable[str] | Missing = ()) -> "TopicNames":
        """Known names; `hidden` is Missing if this login may not list them: a hidden topic may then have any name."""
        found = hidden if isinstance(hidden, Missing) else frozenset(hidden)
        seen = frozenset(visible)

        def refused(names: Collection[str]) -> dict[str, int]:
            return dict.fromkeys(names if isinstance(found, Missing) else found & set(names), _REFUSED)

        return cls(seen, lambda: found, refused)

    @property
    def hidden(self) -> frozenset[str] | Missing:
        """Topics that exist and are not visible to this login; sends one request to each broker, once."""
        with self._one:
            if self._hidden is None:
                self._hidden = self._look()
            return self._hidden

    def every(self) -> frozenset[str]:
        """All names that are known to exist; reads the hidden ones."""
        return self.visible if isinstance(self.hidden, Missing) else self.visible | self.hidden

    def unseen(self, names: Collection[str]) -> dict[str, str]:
        """Of names that are not visible, those that may exist, each with the remedy.

        A name that is neither visible nor in the result is a topic that does not exist.
        """
        absent = frozenset(names) - self.visible
        if not absent:
            return {}
        with self._one:
            refused = self._refused(absent)
        if isinstance(refused, Missing):
            return dict.fromkeys(sorted(absent), refused.missing)
        found = {name: refused_topic(name, code) for name, code in refused.items() if code != _REFUSED}
        if found.keys() == refused.keys():
            return found
        known = not isinstance(self.hidden, Missing)
        for name in sorted(refused.keys() - found.keys()):
            if name in self.every():
                found[name] = not_visible(name)
            elif not known:
                found[name] = _perhaps_there(name)
        return found


def refused_topic(name: str, code: int) -> str:
    """A topic that a broker does not describe, with its error code."""
    return _perhaps_there(name) if code == _REFUSED else f"topic {name}: broker error {code}"


def not_visible(name: str) -> str:
    """A topic that exists and that this login may not Describe."""
    return f"topic {name} is not visible to this login; grant it Describe on Topic {name}"


def _perhaps_there(name: str) -> str:
    return (
        f"topic {name} is not visible to this login, and whether it exists is not known; grant it Describe on Topic "
        f"{name}"
    )
