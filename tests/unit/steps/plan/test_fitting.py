"""The topics of the cluster against what a plan brings, at the plan and before each stop; on a real SQLite ledger."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from kstreams_runbooks.decide.fitting.needed import NeededTopics
from kstreams_runbooks.decide.fitting.uncommitted import SKIPPED_AT_FIRST
from kstreams_runbooks.errors import BadInput, Drifted, Inconclusive, Refused, RunbookError, Unreachable
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.readings.lag import PartitionLag
from kstreams_runbooks.model.readings.readings import ApplicationReading, Taken
from kstreams_runbooks.model.readings.topics_seen import RepartitionsSeen, TopicsSeen
from kstreams_runbooks.model.runs.cards import TopicDeleted
from kstreams_runbooks.model.runs.object_stages import DeleteTopics
from kstreams_runbooks.model.runs.stages import Bounce
from kstreams_runbooks.model.target import Target
from kstreams_runbooks.model.topology.declaration import Declaration, DeclaredTopic
from kstreams_runbooks.model.topology.facts import FactsReading
from kstreams_runbooks.model.writes import TopicShape
from kstreams_runbooks.steps.plan.fitting import require_topics, require_topics_still
from kstreams_runbooks.steps.plan.releases import topology_of
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.stages.announce import Announced
from world.samples import NEW, OLD, applied, declared, down, instance, reading
from world.sides import COUNTS, described

PRESENT = TopicsSeen({"orders": 4, "counted": 4}, {}, {})
GONE = TopicsSeen({"orders": 4}, {}, {})
HIDDEN = TopicsSeen({"orders": 4}, {"counted": "topic counted is not visible"}, {})
RUNS = reading(instance("orders-1", topology=COUNTS), instance("orders-2", topology=COUNTS))


class Describing:
    """A deployer that prints one description, or none, and counts how often it is asked."""

    def __init__(self, text: str) -> None:
        self.text, self.asked = text, 0

    def facts(self, target: Target, *, started: bool = False) -> None:
        """It prints descriptions."""

    def topology_target(self, target: Target) -> Target:
        """Settings change nothing in it."""
        return target.release_alone

    def topology(self, target: Target) -> str:
        """What the topology command prints."""
        self.asked += 1
        if not self.text:
            raise BadInput(f"topology of {target.release} cannot be read: no topology command is declared")
        return self.text


@pytest.fixture
def cluster(run: Run, monkeypatch: pytest.MonkeyPatch) -> Callable[[TopicsSeen], None]:
    """The topics that are there from now on; what is looked for is what the description needs."""
    vars(run).update(declared=declared(), deployer=Describing(COUNTS), running_facts=lambda _: {})
    # tests/secured takes rights away on a real broker.
    monkeypatch.setattr("kstreams_runbooks.steps.plan.fitting.require_rights_of_versions", lambda *_: None)

    def now(seen: TopicsSeen) -> None:
        def look(_: Run, needed: NeededTopics) -> TopicsSeen:
            assert set(needed.external) <= {"orders", "counted"}
            return seen

        monkeypatch.setattr(Run, "topics_seen", look)

    return now


def test_a_plan_refuses_for_a_topic_that_is_missing(run: Run, cluster: Callable[[TopicsSeen], None]) -> None:
    """Before anybody is asked, and in a dry run as well: both make the plan."""
    cluster(GONE)
    with pytest.raises(Refused, match=r"topic counted does not exist \(release 4\.3\.1 writes to it\): create it"):
        require_topics(run, RUNS, run.plan().bounces)
    cluster(HIDDEN)
    with pytest.raises(Inconclusive, match=r"topic counted is not visible \(release 4\.3\.1 writes to it\)"):
        require_topics(run, RUNS, run.plan().bounces)


def test_a_topic_that_went_after_the_plan_stops_before_the_first_stop(
    run: Run, cluster: Callable[[TopicsSeen], None]
) -> None:
    """The description of the plan is compared with the topics as they are now; it is not made again."""
    cluster(PRESENT)
    assert require_topics(run, RUNS, run.plan().bounces) == ()
    require_topics_still(run, RUNS, "nothing is stopped")
    cluster(GONE)
    with pytest.raises(Drifted, match="nothing is stopped: topic counted does not exist"):
        require_topics_still(run, RUNS, "nothing is stopped")
    cluster(HIDDEN)
    with pytest.raises(Inconclusive, match="nothing is stopped: topic counted is not visible"):
        require_topics_still(run, RUNS, "nothing is stopped")
    assert run.deployer.asked == 1  # type: ignore[attr-defined] # the fake above


def test_what_is_down_is_kept_down_by_what_is_certain_alone(run: Run, cluster: Callable[[TopicsSeen], None]) -> None:
    """A reading that is missing must not keep an application from being started again."""
    cluster(PRESENT)
    require_topics(run, RUNS, run.plan().bounces)
    cluster(HIDDEN)
    require_topics_still(run, RUNS, "orders-1 not started", down=True)
    cluster(GONE)
    with pytest.raises(Drifted, match="orders-1 not started: topic counted does not exist"):
        require_topics_still(run, RUNS, "orders-1 not started", down=True)


def test_a_release_that_nothing_describes_is_inconclusive(run: Run, cluster: Callable[[TopicsSeen], None]) -> None:
    """Before anything is changed; a person who accepts that reads what was not compared."""
    vars(run)["deployer"] = Describing("")
    cluster(TopicsSeen({}, {}, {}))
    with pytest.raises(
        Inconclusive,
        match=r"whether the topology changes is not known: release 4\.3\.1: .* no topology command is declared; "
        r"correct that, then trigger a new run \(or accept that, with a reason in without_topology\)",
    ):
        require_topics(run, RUNS, run.plan().bounces, accepted="")
    danger, finding = require_topics(run, RUNS, run.plan().bounces, accepted="the registry is down")
    assert (danger.id, danger.severity) == ("topology-not-compared", "danger")
    assert danger.message.endswith("accepted with the reason: the registry is down")
    assert (finding.id, finding.severity) == ("topics-not-compared", "warning")
    assert "release 4.3.1: topology of 4.3.1 cannot be read: no topology command is declared" in finding.message
    require_topics_still(run, RUNS, "nothing is stopped")


def test_a_restart_of_what_runs_asks_for_no_description(run: Run, cluster: Callable[[TopicsSeen], None]) -> None:
    """Its topics are there; settings that may change its topology are a change, and so is another release."""
    vars(run)["deployer"] = Describing("")
    cluster(TopicsSeen({}, {}, {}))
    silent = reading(down("orders-1"), down("orders-2"))
    again = Bounce(1, OLD, (), OLD, again=True)
    threads = (("num.stream.threads", "2"),)
    for same in (again, replace(again, settings=threads)):
        assert [one.id for one in require_topics(run, silent, [same])] == ["topics-not-compared"]
    for setting in ("topology.optimization", "input.topic"):
        with pytest.raises(Inconclusive, match="whether the topology changes is not known"):
            require_topics(run, silent, [replace(again, settings=(*threads, (setting, "x")))])
    half = reading(down("orders-1"), down("orders-2", release=NEW))
    with pytest.raises(Inconclusive, match="whether the topology changes is not known"):
        require_topics(run, half, [again])


def test_an_undo_takes_the_description_that_its_run_kept(run: Run, cluster: Callable[[TopicsSeen], None]) -> None:
    """No topology command is run: a registry may be down."""
    vars(run)["deployer"] = Describing("")
    cluster(GONE)
    kept = {OLD: described(COUNTS)}
    back = [Bounce(1, OLD, (), OLD)]
    with pytest.raises(Refused, match="topic counted does not exist"):
        require_topics(run, reading(instance("orders-1", release=NEW)), back, kept=kept)
    assert run.deployer.asked == 0  # type: ignore[attr-defined] # the fake above


@pytest.mark.parametrize(
    "error",
    [
        # supervisord and docker; command and manual by their exit codes; no command; facts that cannot be used.
        Refused("java: topology of 4.3.1 not printed (exit 1: no login to the registry)"),
        Refused("orders: topology (deploy): it refused (exit 1, no jars)"),
        BadInput("topology of 4.3.1 cannot be read: no topology command is declared"),
        Inconclusive("java: topology of 4.3.1: its document of topology facts has no description"),
    ],
)
def test_no_way_in_which_a_deployer_fails_lets_a_release_pass(
    run: Run, cluster: Callable[[TopicsSeen], None], error: RunbookError
) -> None:
    """Each of them is inconclusive, with its own words, and so is plan_change."""
    cluster(PRESENT)

    class Failing(Describing):
        def topology(self, target: Target) -> str:  # noqa: ARG002 - as for all
            raise error

    vars(run)["deployer"] = Failing("")
    with pytest.raises(Inconclusive, match="whether the topology changes is not known") as unread:
        require_topics(run, RUNS, run.plan().bounces, accepted="")
    assert str(error) in str(unread.value)
    shown = BadInput if isinstance(error, BadInput) else Inconclusive
    with pytest.raises(shown):
        topology_of(run, Target(NEW))


def test_a_topology_command_that_does_not_end_is_tried_again(run: Run, cluster: Callable[[TopicsSeen], None]) -> None:
    """It is not taken for a release without a description: the task is repeated."""
    cluster(PRESENT)

    class Hanging(Describing):
        def topology(self, target: Target) -> str:
            raise Unreachable(f"topology of {target.release} not printed within 60 s")

    vars(run)["deployer"] = Hanging("")
    with pytest.raises(Unreachable, match="not printed within 60 s"):
        require_topics(run, RUNS, run.plan().bounces, accepted="the registry is down")


def test_a_release_that_runs_describes_itself(run: Run, cluster: Callable[[TopicsSeen], None]) -> None:
    """Without a topology command, as a restart without a change needs; what runs something else does not count."""
    vars(run)["deployer"] = Describing("")
    cluster(GONE)
    new = reading(instance("orders-1"), instance("orders-2", release=NEW, topology=COUNTS))
    with pytest.raises(Refused, match="topic counted does not exist"):
        require_topics(run, new, run.plan().bounces)
    set_only = reading(new.instances[0], applied(new.instances[1], value=False))
    with pytest.raises(Inconclusive, match="whether the topology changes is not known"):
        require_topics(run, set_only, run.plan().bounces)


def test_a_number_that_the_program_fixes_is_read_from_its_instance(
    run: Run, cluster: Callable[[TopicsSeen], None]
) -> None:
    """Without a declaration: the number in the topology facts of the instance that describes the release."""
    vars(run)["deployer"] = Describing("")
    new = reading(instance("orders-1", release=NEW, topology=COUNTS))
    cluster(TopicsSeen({"orders": 4, "counted": 4, "orders-by-customer-repartition": 4}, {}, {}))
    assert require_topics(run, new, run.plan().bounces) == ()
    read = Declaration(topics={"by-customer-repartition": DeclaredTopic(partitions=3)})
    vars(run)["running_facts"] = lambda _: {"orders-1": FactsReading(Taken(1, "jolokia"), "c", read)}
    with pytest.raises(Refused, match="orders-by-customer-repartition has 4 partitions"):
        require_topics(run, new, run.plan().bounces)


def left(start: int, end: int) -> RepartitionsSeen:
    """The repartition topic without a committed offset, with records from `start` to `end`; the group is empty."""
    topic = "orders-by-customer-repartition"
    row = PartitionLag(topic, 0, "repartition", "never_committed", "id", None, start, end, end)
    counted = replace(row, records=end - start, exact=True)
    return RepartitionsSeen({topic: "id"}, (counted,), "Empty")


def test_a_start_over_records_without_a_committed_offset_is_refused(
    run: Run, cluster: Callable[[TopicsSeen], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the plan and before the start; what this run's own start wrote since the plan is let through."""
    cluster(PRESENT)
    now = left(3, 9)

    def look(_: Run, names: dict[str, str], __: ApplicationReading) -> RepartitionsSeen:
        assert set(names) == {"orders-by-customer-repartition"}
        return now

    monkeypatch.setattr(Run, "repartitions_seen", look)
    with pytest.raises(Refused, match="orders-by-customer-repartition has 6 records on partition 0 without"):
        require_topics(run, RUNS, run.plan().bounces)
    with pytest.raises(Drifted, match="orders-1 not started: topic orders-by-customer-repartition has 6 records"):
        require_topics_still(run, RUNS, "orders-1 not started", down=True)
    now = left(9, 9)
    require_topics(run, RUNS, run.plan().bounces)
    now = left(9, 11)
    require_topics_still(run, RUNS, "orders-1 not started", down=True)
    now = left(10, 11)
    with pytest.raises(Drifted, match="orders-1 not started"):
        require_topics_still(run, RUNS, "orders-1 not started", down=True)
    now = RepartitionsSeen({}, (), "Empty", unknown=("no leader answers",))
    with pytest.raises(Inconclusive, match="orders-1 not started: no leader answers"):
        require_topics_still(run, RUNS, "orders-1 not started", down=True)


def test_topics_that_the_run_deletes_count_as_absent_until_it_has(
    run: Run, cluster: Callable[[TopicsSeen], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Records in them are gone before the start; what is there after the deletion counts again."""
    topic = "orders-by-customer-repartition"
    cluster(PRESENT)
    monkeypatch.setattr(Run, "repartitions_seen", lambda *_: left(3, 9))
    with pytest.raises(Refused, match="has 6 records"):
        require_topics(run, RUNS, run.plan().bounces)
    [finding] = require_topics(run, RUNS, run.plan().bounces, frozenset({topic}))
    assert (finding.id, finding.object) == (SKIPPED_AT_FIRST, topic)
    stage = DeleteTopics(3, (topic,), at_rest=True)
    made = replace(run.plan(), stages=(*run.plan().stages, stage))
    run.ledger.store_plan(run.key, made.digest, encode(made))
    require_topics_still(run, RUNS, "nothing is stopped")
    Announced(run, stage).write(topic, TopicDeleted(TopicShape(topic, 4), "id"), "deleted")
    with pytest.raises(Drifted, match="orders-1 not started: topic orders-by-customer-repartition has 6 records"):
        require_topics_still(run, RUNS, "orders-1 not started", down=True)
