"""What an application reads while none of its instances answers: `lag` and the scheduled check read the same."""

from types import SimpleNamespace
from typing import Any

import pytest
from kstreams_runbooks.errors import Unreachable
from kstreams_runbooks.model.readings.lag import ApplicationLag
from kstreams_runbooks.model.readings.readings import Deployment
from kstreams_runbooks.model.readings.status import KeptReading, KnownTopology
from kstreams_runbooks.model.target import Target
from kstreams_runbooks.observe.kafka.topic_names import TopicNames
from kstreams_runbooks.observe.lag.lag import LagAsked
from kstreams_runbooks.watch.silent_application import declared_digest, of_silent, remembered
from world.samples import down
from world.sides import COUNTS

ENTRY: Any = SimpleNamespace(
    name="orders",
    application_id="orders",
    reads_committed=True,
    inputs=("orders",),
    outputs=(),
    rule_topics=(),
    deployer=SimpleNamespace(releases=("3.4.1",)),
)
ASKED = LagAsked("orders", "orders", lacking="no running instance reports its topology")
NAMES = TopicNames.of({"orders", "payments"})
KNOWN = KnownTopology({"payments": "source"}, (), 1, declared_digest(ENTRY))


class Deployer:
    """Two stopped instances of one release, and what it reads."""

    def instances(self) -> tuple[Deployment, ...]:
        """What is deployed."""
        found = (down(name).deployment for name in ("orders-1", "orders-2"))
        return tuple(one for one in found if isinstance(one, Deployment))

    def topology(self, _: Target) -> str:
        """What it prints."""
        return COUNTS


def away(*_: Any) -> Any:
    """A deployer that does not answer."""
    raise Unreachable("supervisord does not answer")


def deployer(*_: Any) -> Any:
    """One that does."""
    return Deployer()


@pytest.mark.parametrize("known", [None, KNOWN])
def test_its_deployer_knows_what_is_configured(known: KnownTopology | None) -> None:
    """Also where another release ran last."""
    found = of_silent(ASKED, ENTRY, known, deployer, NAMES)
    assert (set(found.reads or ()), found.lacking) == ({"orders", "orders-by-customer-repartition"}, "")


def test_without_its_deployer_what_its_instances_reported_last_counts() -> None:
    """And without either, not all that it reads is known, with the reason of the deployer."""
    found = of_silent(ASKED, ENTRY, KNOWN, away, NAMES)
    assert (found.reads, found.lacking) == ({"payments": "source"}, "")
    found = of_silent(ASKED, ENTRY, None, away, NAMES)
    assert found.reads is None
    assert "its deployer does not either: supervisord does not answer" in found.lacking


def test_a_report_under_another_declaration_counts_no_longer() -> None:
    """It may have been another program."""
    lag = ApplicationLag("orders", "orders", None, None, (), ())
    assert remembered(ENTRY, ()) is None
    assert remembered(ENTRY, (KeptReading(1, lag, None, KNOWN, {}, ()),)) == KNOWN
    other = SimpleNamespace(**{**vars(ENTRY), "inputs": ("orders", "more")})
    assert remembered(other, (KeptReading(1, lag, None, KNOWN, {}, ()),)) is None  # type: ignore[arg-type]
