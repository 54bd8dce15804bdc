"""The memory of suppress buffers, estimated from keys and sizes."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.comparison.state.suppressions import (
    METADATA_BYTES,
    buffer_bytes,
    estimate,
    fits,
    needed_bytes,
)
from kstreams_runbooks.model.topology.declaration import Declaration, DeclaredSuppression, Memory
from world.pairs import described

_, TOPOLOGY = described("named-suppress-added")
MIB = 1024 * 1024
FINAL = DeclaredSuppression("until_window_closes", keys=1_000, key_bytes=40, value_bytes=60)


@pytest.mark.parametrize(
    ("one", "size"),
    [
        (FINAL, 1_000 * (40 + 120 + METADATA_BYTES)),
        (replace(FINAL, max_records=10), 10 * (40 + 120 + METADATA_BYTES)),
        (replace(FINAL, max_bytes=5_000), 5_000),
        (replace(FINAL, keys=None), None),
        (replace(FINAL, value_bytes=None), None),
    ],
)
def test_a_buffer_holds_each_key_once(one: DeclaredSuppression, size: int | None) -> None:
    """Or what its limits say; without keys and sizes nobody can say."""
    assert buffer_bytes(one) == size


def test_the_buffers_of_a_stopped_instance_move_to_the_others() -> None:
    """Of three instances two carry half as much again, beside the record cache of 10 MiB."""
    declared = Declaration(suppressions={"final-only": FINAL}, memory=Memory(64 * MIB, 3))
    assert needed_bytes(declared, TOPOLOGY) == 224_000 * 3 // 2 + 10 * MIB
    assert fits(declared, TOPOLOGY) is True
    assert fits(replace(declared, memory=Memory(10 * MIB, 3)), TOPOLOGY) is False
    without_cache = replace(declared, config={"statestore.cache.max.bytes": "0"})
    assert needed_bytes(without_cache, TOPOLOGY) == 336_000


def test_what_is_not_declared_is_not_estimated() -> None:
    """Neither fits nor does not; the words say what to declare."""
    declared = Declaration(suppressions={"final-only": FINAL})
    assert (needed_bytes(declared, TOPOLOGY), fits(declared, TOPOLOGY)) == (None, None)
    assert estimate(declared, TOPOLOGY).startswith("not estimated: declare keys")
