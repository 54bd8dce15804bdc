"""Rounds of a drain: traffic, a pause at a moment that nobody chose, a certificate, and whether it was true.

The judge is the outputs themselves: after a true certificate nothing comes out of the application any more.
"""

import random
import signal
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import psutil
from confluent_kafka import Producer
from kstreams_runbooks.deployers import make_deployer
from kstreams_runbooks.fleet import load_fleet
from kstreams_runbooks.model.readings.drain import DrainAnswer, DrainQuestion, DrainReading, Pause
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.kafka.offsets import Place, read_ends
from kstreams_runbooks.watch.drain.drain import drain_reader
from kstreams_runbooks.watch.drain.readings import Waits, Watch
from lab.stack import TRAFFIC, Stack

Kind = Literal["plain", "transaction", "restart"]

READINGS, INTERVAL_S = 3, 0.5
# Of a true drain, from the last thing that moved: two seconds, and as many intervals as readings are needed.
FOUND_S = 2.0 + READINGS * INTERVAL_S
# Longer than everything that the application does between two records: EOS commits every 0.1 s.
_SETTLE_S = 1.5
# A rebalance is over by then: what an instance that was restarted still has to process comes after it.
_SETTLE_AFTER_RESTART_S = 8.0
_CEILING_S = 180.0
_TRACK_S = 0.2
_TIMEOUT_MS = 3_000
_QUESTION = DrainQuestion(READINGS, Pause("declared", "the soak", "the generator is stopped by a signal"))


@dataclass(frozen=True, slots=True)
class Drawn:
    """What is left to chance in one round."""

    seed: int
    kind: Kind
    traffic_s: float
    watch_first_s: float

    @classmethod
    def of(cls, seed: int, kind: Kind) -> "Drawn":
        """Every other value follows from the seed; a watch that begins before the pause sees it happen."""
        chance = random.Random(seed)
        return cls(seed, kind, chance.uniform(0.3, 1.5), chance.choice([0.0, chance.uniform(0.1, 0.6)]))


@dataclass(frozen=True, slots=True)
class Round:
    """One round: what was drawn, readings taken, seconds from the last movement to the certificate, and the truth.

    `forged` is whether a certificate from the last reading that still had a record left would have been detected
    (None: there was no such reading); `faults` are empty if the certificate was given and true.
    """

    drawn: Drawn
    readings: int
    found_s: float
    forged: bool | None
    faults: tuple[str, ...]

    @property
    def late(self) -> bool:
        """Whether the certificate took longer than its limit; counts in the soak, which has the machine to itself."""
        return self.found_s > FOUND_S


@dataclass
class Tracker:
    """When anything of the application last moved, seen by somebody else than the one who judges."""

    config: dict[str, Any]
    places: Sequence[Place]
    group: str
    moved_at: float = field(default_factory=time.monotonic)
    _seen: object = None
    _over: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        """Look until it is over."""
        with ClusterReader(self.config) as reader:
            while not self._over.wait(_TRACK_S):
                looked_at = time.monotonic()
                ends = {
                    place: (each.stable, each.end)
                    for place, each in read_ends(reader.librdkafka, [*self.places]).items()
                }
                seen = (ends, reader.committed([self.group]))
                if seen != self._seen:
                    self._seen, self.moved_at = seen, looked_at

    def end(self) -> None:
        """Stop looking."""
        self._over.set()


class Soak:
    """Rounds on one stack whose application runs; its generator is started once and then only paused."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._config = {"bootstrap.servers": stack.lab.bootstrap}
        entry = load_fleet().application("orders")
        self._entry = entry
        self._reader = drain_reader(entry, make_deployer(entry, dry_run=True), self._config)

    def begin(self) -> None:
        """Traffic that is paused."""
        self._stack.start_traffic()
        time.sleep(2)
        self._signal(signal.SIGSTOP)
        # Everything that is tracked exists by now, and the first round begins with nothing left.
        Watch(self._reader, self._config, _QUESTION, Waits(INTERVAL_S, _CEILING_S)).until_answered(lambda _: None)

    def end(self) -> None:
        """Let the generator go on, so that it can be told to stop."""
        self._signal(signal.SIGCONT)

    def round(self, drawn: Drawn) -> Round:
        """Traffic, a pause, the watch, and the truth a while later."""
        self._signal(signal.SIGCONT)
        time.sleep(drawn.traffic_s)
        if drawn.kind == "restart":
            self._stack.supervisor.stop("orders-1")
            self._stack.supervisor.start("orders-1")
        left = self._transaction() if drawn.kind == "transaction" else None
        with self._tracked() as tracker:
            if drawn.watch_first_s:
                pause = threading.Timer(drawn.watch_first_s, self._signal, [signal.SIGSTOP])
                pause.start()
            else:
                self._signal(signal.SIGSTOP)
            answer = Watch(self._reader, self._config, _QUESTION, Waits(INTERVAL_S, _CEILING_S)).until_answered(
                lambda _: None
            )
            given_at, moved_at = time.monotonic(), tracker.moved_at
            time.sleep(_SETTLE_AFTER_RESTART_S if drawn.kind == "restart" else _SETTLE_S)
        now = self._sinks()
        if left is not None:
            left.purge()
        return _judged(drawn, answer, given_at - moved_at, now)

    def _transaction(self) -> Producer:
        """An input record in a transaction that its producer never ends, as one that was killed leaves it."""
        name = f"soak-{uuid.uuid4().hex[:8]}"
        producer = Producer({**self._config, "transactional.id": name, "transaction.timeout.ms": _TIMEOUT_MS})
        producer.init_transactions()
        producer.begin_transaction()
        producer.produce("customers", b"never", b"committed", partition=0)
        producer.flush()
        return producer

    @contextmanager
    def _tracked(self) -> Iterator[Tracker]:
        with ClusterReader(self._config) as reader:
            names = {name for name in reader.topic_names() if not name.startswith("__")}
            places = [(one.name, number) for one in reader.topics(names) for number in range(one.partitions)]
        tracker = Tracker(self._config, places, self._entry.application_id)
        thread = threading.Thread(target=tracker.run, daemon=True)
        thread.start()
        try:
            yield tracker
        finally:
            tracker.end()
            thread.join()

    def _sinks(self) -> dict[str, object]:
        with ClusterReader(self._config) as reader:
            topics = reader.topics(self._entry.outputs)
            places = [(one.name, number) for one in topics for number in range(one.partitions)]
            return {
                f"{topic}-{number}": each.end for (topic, number), each in read_ends(reader.librdkafka, places).items()
            }

    def _signal(self, number: signal.Signals) -> None:
        pid = self._stack.supervisor.pid(TRAFFIC)
        assert pid is not None, "the generator runs"
        psutil.Process(pid).send_signal(number)


def _judged(drawn: Drawn, answer: DrainAnswer, found_s: float, now: dict[str, object]) -> Round:
    faults = []
    if answer.verdict.outcome is not Outcome.PROCEED:
        faults.append(f"no certificate: {answer.verdict.sentence}")
    elif not _still(answer.readings[-1], now):
        faults.append("FALSE: an output came after the certificate")
    early = [reading for reading in answer.readings if reading.unread]
    forged = not _still(early[-1], now) if early else None
    return Round(drawn, answer.taken, found_s, forged, tuple(faults))


def _still(reading: DrainReading, now: dict[str, object]) -> bool:
    """Whether every output ends where it ended at a reading."""
    return dict(reading.sinks) == now


def soaked(stack: Stack, plan: Sequence[Drawn], say: Callable[[Round], None]) -> list[Round]:
    """Every round of a plan; the generator goes on at the end."""
    soak = Soak(stack)
    soak.begin()
    rounds = []
    try:
        for drawn in plan:
            rounds.append(soak.round(drawn))
            say(rounds[-1])
    finally:
        soak.end()
    return rounds


def planned(seed: int, rounds: int, kinds: Sequence[Kind]) -> list[Drawn]:
    """Seeds of all rounds from one, with these kinds among them at places that are drawn too."""
    chance = random.Random(seed)
    every: list[Kind] = [*kinds, *(["plain"] * (rounds - len(kinds)))]  # type: ignore[list-item]
    chance.shuffle(every)
    return [Drawn.of(chance.randrange(1_000_000_000), kind) for kind in every]
