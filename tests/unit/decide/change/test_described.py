"""A change between two versions as they were found, with what the cluster and the fleet entry know."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.change.described import Known, described_change, side_of
from kstreams_runbooks.decide.change.reading import ChangeReading
from kstreams_runbooks.decide.topology.described import parsed
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.topology.declaration import DeclaredTopic, Described
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.rules import topology_change_rules, upgrade_path_rules
from world.samples import NEW, OLD
from world.sides import AFTER, AUDITED, BEFORE, COUNTS, declaration, described, known


def change(before: Described, after: Described, given: Known | None = None) -> ChangeReading:
    return described_change(before, after, given or known(), topology_change_rules(), upgrade_path_rules())


_INTERNAL = {"orders-by-customer-repartition": 6, "orders-counts-changelog": 6}


def _moved(name: str) -> dict[str, DeclaredTopic]:
    topics = dict(declaration().topics)
    topics[name] = topics.pop("orders")
    return topics


def test_a_new_internal_topic_has_the_partitions_that_the_cluster_implies() -> None:
    """Counts of what is read are taken from the cluster, names are the full ones."""
    after = described(AUDITED, declares=declaration("counts", "audit-repartition"))
    found = change(BEFORE, after, known(orders=6))
    (created,) = found.prediction.created
    assert (created.name, created.partitions) == ("orders-audit-repartition", 6)
    assert found.plan.runbooks == ("stop_and_restart",)
    made = [one for one in found.effects if one.action == "create"]
    assert [one.names for one in made] == [("orders-audit-repartition",)]


def test_names_are_whole_where_nobody_declares_settings() -> None:
    """Also of one side alone: what stays must not look like something that comes and goes."""
    found = change(described(), AFTER)
    assert [one.name for one in found.prediction.kept] == ["orders-by-customer-repartition", "orders-counts-changelog"]
    assert found.prediction.created == found.prediction.orphaned == ()
    assert found.plan.verdict is Outcome.INCONCLUSIVE


def test_a_declared_number_of_partitions_stays() -> None:
    """The cluster fills in what is not declared: a version that wants another number is a change."""
    topics = dict(declaration().topics)
    topics["orders"] = replace(topics["orders"], partitions=12)
    found = change(BEFORE, described(declares=declaration(topics=topics)), known(orders=6))
    assert "partition-count-changed" in {one.id for one in found.uncovered}
    assert found.plan.runbooks == ("blue_green_cutover",)


def test_an_input_with_fewer_partitions_needs_other_internal_topics() -> None:
    """The repartition topic of the old version has 6, and the new one would need 4: it does not start."""
    moved = described(COUNTS.replace("orders", "trades"), declares=declaration(topics=_moved("trades")))
    found = change(BEFORE, moved, replace(known(), partitions={"orders": 6, "trades": 4, **_INTERNAL}))
    assert {one.object for one in found.uncovered if one.id == "kept-topic-refused"} == set(_INTERNAL)
    assert found.plan.runbooks == ("reset_and_cleanup",)


def test_a_number_that_the_program_gives_is_no_change() -> None:
    """The topics of the running version have another number than follows from its inputs, and work."""
    given = replace(known(), partitions={"orders": 4, **_INTERNAL})
    assert change(BEFORE, AFTER, given).plan.runbooks == ("library_bump",)


def test_the_brokers_release_is_known() -> None:
    """No plan for every broker there may be, and one that is too old is refused."""
    assert change(BEFORE, AFTER).plan.runbooks == ("library_bump",)
    assert change(BEFORE, AFTER, replace(known(), broker="2.0")).plan.verdict is Outcome.REFUSE


def test_the_guarantee_of_the_fleet_entry_is_a_setting() -> None:
    """A declaration that has other settings and not this one is filled in from there."""
    assert "missing-guarantee" not in {one.id for one in change(BEFORE, AFTER).findings}
    old, new = (replace(one, declared=replace(declaration(), config=None)) for one in (BEFORE, AFTER))
    assert "missing-guarantee" in {one.id for one in change(old, new).findings}


@pytest.mark.parametrize(
    ("after", "sentence"),
    [
        (described("hello", NEW), r"4\.3\.1: line 1: 'hello' \(expected `Topologies:`\)"),
        (
            described(release=NEW, declares=declaration("sums")),
            r"declaration of 4\.3\.1: stores\.sums: the topology has",
        ),
    ],
)
def test_what_contradicts_a_description_is_said(after: Described, sentence: str) -> None:
    """With where it comes from."""
    with pytest.raises(BadInput, match=sentence):
        change(BEFORE, after)


def test_what_runs_has_the_application_id_of_the_fleet_entry() -> None:
    """The file of another application, or an entry that was never right."""
    wrong = described(COUNTS, OLD, declaration(config={"application.id": "trades"}))
    with pytest.raises(
        BadInput, match=r"declaration of 3\.4\.1: application\.id is trades, and the fleet entry of ord"
    ):
        change(wrong, AFTER)


def test_whether_brokers_create_topics_is_known_from_them() -> None:
    """A declaration that says so itself is left alone."""
    gone = described(COUNTS, OLD, declaration(auto_create_topics=False))
    loose = replace(known(), auto_create_topics=True)
    assert side_of(parsed(BEFORE), loose).declared.auto_create_topics is True
    assert side_of(parsed(gone), loose).declared.auto_create_topics is False


def test_what_is_found_comes_in_the_same_order_each_time() -> None:
    """The plan is bound by a digest, and evidence is decided again in another process."""
    names = [f"sum-{number}" for number in range(8)]
    nodes = "".join(
        f"    Processor: {name} (stores: [{name}-store])\n      --> none\n      <-- by-customer-source\n"
        for name in names
    )
    more = COUNTS.replace("--> count\n", f"--> count, {', '.join(names)}\n").replace(
        "    Processor: count", nodes + "    Processor: count"
    )
    found = change(described(), described(more))
    assert [one.object for one in found.undecided if one.id == "suppress-added"] == names
