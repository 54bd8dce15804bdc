"""One broker for the trials of topology changes, and what they begin with."""

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from lab.settings import Lab, Ports
from lab.stack import Parts
from lab.stack import stack as a_stack
from lab.trial import Begin, Trial, class_path

_PORT_BASE = 27_000
_compiled = cache(class_path)


@pytest.fixture(scope="session")
def broker(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Bootstrap servers of the shared stack if another test of the session has it, else of a broker alone."""
    if any("stack" in getattr(item, "fixturenames", ()) for item in request.session.items):
        yield request.getfixturevalue("stack").lab.bootstrap
        return
    base = Ports.parse(os.environ.get("TEST_PORT_BASE") or str(_PORT_BASE))
    lab = Lab(tmp_path_factory.mktemp("broker"), base)
    with a_stack(lab, Parts.broker_only()):
        yield lab.bootstrap


@pytest.fixture
def begin(request: pytest.FixtureRequest, broker: str, tmp_path: Path) -> Iterator[Begin]:
    """Makes trials: pair, topics with their partitions, release, settings with `_` for `.`; they are cleaned up."""
    made: list[Trial] = []

    def one(pair: str, topics: dict[str, int], release: str, **settings: str) -> Trial:
        number = len(made) + 1
        directory = tmp_path / f"trial-{number}"
        directory.mkdir()
        given = {name.replace("_", "."): value for name, value in settings.items()}
        # Each update is sent, and none is dropped because a later one follows it.
        uncached = {"statestore.cache.max.bytes": "0", "cache.max.bytes.buffering": "0"}
        name = f"{pair}-{release}-{number}-{abs(hash(request.node.nodeid)) % 10_000}"
        made.append(Trial(pair, topics, broker, _compiled(release), directory, name, {**uncached, **given}))
        return made[-1]

    yield one
    for trial in made:
        trial.clean()
