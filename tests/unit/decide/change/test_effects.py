"""What a plan's runbooks change, by name."""

from kstreams_runbooks.decide.change.effects import effects
from kstreams_runbooks.decide.comparison.prediction import predicted
from kstreams_runbooks.model.topology.change import ChangeRunbook
from world.pairs import compared


def changed(case: str, *runbooks: ChangeRunbook) -> dict[str, tuple[str, ...]]:
    found = effects(runbooks, compared(case), predicted(compared(case)))
    return {f"{one.action} {one.kind}": one.names for one in found}


def test_a_reset_names_what_it_deletes_and_nothing_else() -> None:
    """The internal topics of the old version, the group's offsets, and the directories of tasks with state."""
    assert changed("filter-before-unnamed-group-by", "reset_and_cleanup") == {
        "set back to the beginning of its inputs group": ("app",),
        "read again from the beginning topic": ("clicks",),
        "delete topic": (
            "app-KSTREAM-AGGREGATE-STATE-STORE-0000000002-changelog",
            "app-KSTREAM-AGGREGATE-STATE-STORE-0000000002-repartition",
        ),
        "create again, empty topic": (
            "app-KSTREAM-AGGREGATE-STATE-STORE-0000000003-changelog",
            "app-KSTREAM-AGGREGATE-STATE-STORE-0000000003-repartition",
        ),
        "delete on every instance directory": ("1_*",),
    }


def test_a_migration_copies_the_changelogs_of_renamed_stores() -> None:
    """And no other: the directories are those of the tasks that keep them."""
    found = changed("count-store-renamed", "store_migration")
    assert found["copy to the changelog of the new name topic"] == ("app-clicks-per-page-changelog",)
    assert found["delete on every instance, to restore from the copy directory"] == ("1_*",)
    assert found["create topic"] == ("app-page-clicks-changelog",)


def test_a_flush_reads_the_topics_that_go() -> None:
    """They are left behind afterwards, with their directories."""
    found = changed("group-by-to-group-by-key", "control_topic_flush")
    assert found["read to the end first topic"] == ("app-by-user-repartition",)
    assert found["leave behind on the disks directory"] == ("1_*",)


def test_a_roll_changes_nothing_by_name() -> None:
    """Instances come up on the new version, one after another."""
    assert changed("filter-before-named-count", "rolling_bounce") == {}
