"""Global stores whose directories do not fit the new version; tests/long/test_global_tables.py shows what happens.

And global stores whose restore calls the processor of the program in one version, and passes it by in the other.
"""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.comparison.global_stores import left_behind, restored
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.topology.declaration import Declaration, DeclaredStore

_GLOBAL = """
  Sub-topology: {number} for global store (will not generate tasks)
    Source: {topic}-source (topics: [{topic}])
      --> {topic}-table
    Processor: {topic}-table (stores: [{store}])
      --> none
      <-- {topic}-source
"""


_STREAM = """Topologies:
   Sub-topology: 9
    Source: orders-source (topics: [orders])
      --> none
"""


def _side(stores: dict[str, str], *, in_memory: bool = False) -> Side:
    """A version with these global stores, each with its topic."""
    texts = (_GLOBAL.format(number=place, topic=stores[store], store=store) for place, store in enumerate(stores))
    declared = {store: DeclaredStore(kind="key_value", in_memory=in_memory) for store in stores}
    return Side(parse_topology(_STREAM + "".join(texts)), Declaration(stores=declared))


@pytest.mark.parametrize(
    ("after", "fate"),
    [
        ({"rates": "rates-v2"}, "global store rates reads rates-v2 instead of rates-v1"),
        ({"prices": "rates-v1"}, "the global store of topic rates-v1 is prices instead of rates"),
        ({"prices": "prices-v1"}, "global store rates of topic rates-v1 is removed"),
    ],
)
def test_a_store_without_its_topic_is_left_behind(after: dict[str, str], fate: str) -> None:
    assert left_behind(Compared(_side({"rates": "rates-v1"}), _side(after))) == {"rates-v1": fate}


def test_a_store_that_stays_or_comes_leaves_nothing() -> None:
    before = _side({"rates": "rates-v1"})
    assert left_behind(Compared(before, before)) == {}
    assert left_behind(Compared(before, _side({"rates": "rates-v1", "prices": "prices-v1"}))) == {}


def _plain(side: Side, *, timestamped: bool) -> Side:
    stores = {name: replace(one, timestamped=timestamped) for name, one in side.declared.stores.items()}
    return replace(side, declared=replace(side.declared, stores=stores))


def test_files_with_timestamps_do_not_fit_a_store_without() -> None:
    """The other way the files get them in place, and a store in memory has none."""
    table, plain = (_plain(_side({"rates": "rates-v1"}), timestamped=one) for one in (True, False))
    fate = "global store rates of topic rates-v1 has files with timestamps or headers, and the new one opens none"
    assert left_behind(Compared(table, plain)) == {"rates-v1": fate}
    assert left_behind(Compared(plain, table)) == {}
    memory = [_plain(_side({"rates": "rates-v1"}, in_memory=True), timestamped=one) for one in (True, False)]
    assert left_behind(Compared(*memory)) == {}


def test_a_store_in_memory_has_no_directory() -> None:
    assert left_behind(Compared(_side({"rates": "rates-v1"}, in_memory=True), _side({"rates": "rates-v2"}))) == {}


def test_without_a_global_store_nothing_opens_the_directory() -> None:
    assert left_behind(Compared(_side({"rates": "rates-v1"}), _side({}))) == {}


_OWN = DeclaredStore("key_value", source_table=False)


def _restoring(
    library: str | None, store: DeclaredStore | None = _OWN, operator: str = "rates-in", topic: str = "rates"
) -> Side:
    """A version on a release, whose operator fills the global store of a topic."""
    text = _GLOBAL.format(number=0, topic=topic, store="blocked").replace(f"{topic}-table", operator)
    declared = Declaration(
        stores={} if store is None else {"blocked": store}, library=None if library is None else Release(library)
    )
    return Side(parse_topology(_STREAM + text), declared)


@pytest.mark.parametrize(
    ("old", "new", "copied", "processed"),
    [
        ("3.9.1", "3.4.1", True, False),
        ("3.8.0", "3.7.2", True, False),
        ("4.3.1", "2.4.1", True, False),
        ("3.4.1", "3.9.1", False, True),
        ("3.7.2", "3.8.0", False, True),
        # what a restore does stays as it was
        ("3.9.1", "3.8.0", False, False),
        ("3.4.1", "3.7.2", False, False),
        ("3.4.1", "3.4.1", False, False),
        ("3.9.1", "4.3.1", False, False),
        (None, None, False, False),
        (None, "3.9.1", False, False),
    ],
)
def test_a_restore_calls_the_processor_from_3_8_on(
    old: str | None, new: str | None, copied: bool, processed: bool
) -> None:
    """KAFKA-7663: GlobalStateManagerImpl#reprocessState is in the jars from 3.8.0 on."""
    found = restored(Compared(_restoring(old), _restoring(new)), "rates")
    assert (found.copied, found.processed, found.asked) == (copied, processed, ())


def test_the_release_of_a_running_version_is_asked_for() -> None:
    """The new one restores past the processor; whether that is new depends on the old one."""
    found = restored(Compared(_restoring(None), _restoring("3.4.1")), "rates")
    assert (found.copied, [str(one) for one in found.asked]) == (None, ["library (old)"])


@pytest.mark.parametrize(
    ("store", "operator"),
    [
        (replace(_OWN, source_table=True), "rates-in"),
        (replace(_OWN, aggregate="none"), "rates-in"),
        (replace(_OWN, aggregation="none"), "rates-in"),
        (None, "KTABLE-SOURCE-0000000001"),
    ],
)
def test_a_table_and_a_processor_that_stores_records_as_they_come(store: DeclaredStore | None, operator: str) -> None:
    """A copy of the topic is what they make."""
    sides = [_restoring(one, store, operator) for one in ("3.9.1", "3.4.1")]
    for compared in (Compared(*sides), Compared(*reversed(sides))):
        found = restored(compared, "rates")
        assert (found.copied, found.processed) == (False, False)


def test_a_description_does_not_show_whether_a_name_is_that_of_a_table() -> None:
    """The words for what the processor does decide it, in both directions."""
    sides = [_restoring(one, None) for one in ("3.9.1", "3.4.1")]
    found = restored(Compared(*sides), "rates")
    assert (found.copied, found.processed) == (None, False)
    assert [(str(one), one.value) for one in found.asked] == [("stores.blocked.aggregate (new)", True)]
    back = restored(Compared(*reversed(sides)), "rates")
    assert (back.copied, back.processed) == (False, None)
    known = restored(Compared(sides[0], _restoring("3.4.1", DeclaredStore(aggregate="upper case"))), "rates")
    assert (known.copied, known.store, known.processor) == (True, "blocked", "rates-in")


def test_a_processor_that_is_new_on_an_older_release() -> None:
    """Of another topic, or in place of a table: each start copies past it, also if nothing else changes."""
    for before in (_restoring("3.4.1", topic="other"), _restoring("3.4.1", replace(_OWN, source_table=True))):
        assert restored(Compared(before, _restoring("3.4.1")), "rates").copied is True
        newer = replace(before, declared=replace(before.declared, library=Release("3.9.1")))
        assert restored(Compared(newer, _restoring("3.9.1")), "rates").copied is False
    gone = restored(Compared(_restoring("3.9.1"), _restoring("3.4.1", topic="other")), "rates")
    assert gone.copied is False
