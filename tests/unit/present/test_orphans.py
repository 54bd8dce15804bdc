"""The answer of `orphans`: text, JSON and exit code."""

from kstreams_runbooks.model.readings.orphans import ApplicationOrphans, FoundTopic, Orphan
from kstreams_runbooks.present.orphans import as_text, document, exit_code

CHANGELOG = Orphan(
    "orders-counts-changelog",
    "id-1",
    "changelog",
    exists=True,
    found=FoundTopic("orders-counts-changelog", "id-1", "changelog", bytes=1_234, records=20, uncommitted=4),
    since_ms=0,
    run="bump/1",
)


def repartition(records: int | None, uncommitted: int | None) -> Orphan:
    """A repartition topic with records, and partitions without an offset."""
    name = "orders-by-customer-repartition"
    found = FoundTopic(name, "id-2", "repartition", bytes=None, records=records, uncommitted=uncommitted)
    return Orphan(name, "id-2", "repartition", exists=True, found=found, since_ms=None, run=None)


def answer(*orphans: Orphan, problems: tuple[str, ...] = ()) -> list[ApplicationOrphans]:
    """One application."""
    return [ApplicationOrphans("orders", "demo", 1, orphans, problems)]


def test_each_orphan_with_what_may_be_done() -> None:
    """What it is, since when, by which run; nothing is deleted by a runbook."""
    assert as_text(answer(CHANGELOG, repartition(3, 1))).splitlines() == [
        "orders @ demo: 2 topics that nothing reads",
        "  orders-counts-changelog (id id-1): changelog, 1,234 bytes, at most 20 records, not read since 1970-01-01 "
        "00:00:00 UTC, left behind by run bump/1",
        "    keep it while an undo may need its store; then retire it (reset_and_cleanup, mode retire)",
        "  orders-by-customer-repartition (id id-2): repartition, size not known, at most 3 records, no committed "
        "offset on 1 partition with records, which run left it behind is not in the ledger",
        "    a start of a release that reads it is refused: empty it if its records are proven read "
        "(kafka-delete-records), or restore the offsets from the file that a run saved",
    ]


def test_a_repartition_topic_by_what_is_left_in_it() -> None:
    """Its offsets expire while the group goes on: then its records are read again."""
    assert "are read and committed, until the offsets expire" in as_text(answer(repartition(3, 0)))
    assert "no record is left" in as_text(answer(repartition(0, 0)))
    assert "a start of a release that reads it is refused" in as_text(answer(repartition(None, None)))


def test_exit_codes() -> None:
    """0 none, 1 some, 3 something is unknown."""
    assert exit_code(answer()) == 0
    assert as_text(answer()) == "orders @ demo: every internal topic is read"
    assert exit_code(answer(CHANGELOG)) == 1
    assert exit_code(answer(CHANGELOG, problems=("no broker answers",))) == 3
    assert as_text(answer(problems=("no broker answers",))).endswith("  ! no broker answers")


def test_unknown_values_are_null() -> None:
    """As while a cluster cannot be read."""
    alone = Orphan("a-changelog", "id", "changelog", exists=None, found=None, since_ms=5, run="bump/1")
    [row] = document(answer(alone))["applications"][0]["orphans"]
    assert (row["exists"], row["bytes"], row["records_at_most"], row["since_ms"]) == (None, None, None, 5)
    assert "whether it still exists is not known" in as_text(answer(alone))


def test_what_could_not_be_read_has_no_orphan_and_is_not_without_any() -> None:
    """A cluster that is away proves nothing."""
    text = as_text(answer(problems=("Kafka at broker:9092: nothing listens on this port; start the broker",)), 60)
    assert text.splitlines()[0] == "orders @ demo: not known"
    assert max(map(len, text.splitlines())) <= 60
