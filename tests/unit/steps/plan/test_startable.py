"""What every runbook demands of the settings of its starts at `plan`, before anything is stopped."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import SimpleNamespace

import pytest
from kstreams_runbooks.decide.plans.bump import bump_plan
from kstreams_runbooks.decide.plans.restart import restart_plan
from kstreams_runbooks.errors import BadInput, Refused
from kstreams_runbooks.model.readings.readings import ApplicationReading
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.target import Target
from kstreams_runbooks.model.topology.declaration import Declaration, LibraryRefusal, UnlinkedClass
from kstreams_runbooks.rules import upgrade_path_rules
from kstreams_runbooks.steps.plan.startable import require_startable
from kstreams_runbooks.steps.run.run import Run
from unit.decide.releases.test_links import NEEDED
from world.samples import NEW, OLD, declared, instance, reading

OWN = {"application.id": "app", "processing.guarantee": "exactly_once_v2", "commit.interval.ms": "100"}
RUNS = reading(instance("orders-1"), instance("orders-2"))


@dataclass
class Trying:
    """A deployer whose command prints the settings that it got, and a refusal of what `refuses` is set to."""

    takes_settings: bool = True
    refuses: tuple[str, str] = ("", "")
    prints_facts: bool = True
    broken: bool = False
    unlinked: tuple[UnlinkedClass, ...] | None = ()
    unread: Mapping[str, str] = field(default_factory=dict)
    asked: list[tuple[Target, bool]] = field(default_factory=list)

    @property
    def abilities(self) -> SimpleNamespace:
        """What it can do."""
        return SimpleNamespace(topology_settings=self.takes_settings)

    def facts(self, target: Target, *, started: bool = False) -> Declaration | None:
        """What its topology command prints."""
        self.asked.append((target, started))
        if self.broken:
            raise BadInput("topology of 3.4.1 cannot be read: no topology command is declared")
        config = {**OWN, **(dict(target.settings) if self.takes_settings else {})}
        name, value = self.refuses
        refused = (LibraryRefusal("producer", (name,), "ConfigException", "Must not be that."),)
        return (
            Declaration(
                config=config,
                refused=refused if config.get(name) == value else (),
                unlinked=self.unlinked,
                not_read=self.unread,
            )
            if self.prints_facts
            else None
        )


@pytest.fixture
def asked(run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The run, with a deployer that tries settings."""
    monkeypatch.setattr(Run, "declared", declared(releases=(OLD, NEW), static_membership=False))
    vars(run).update(deployer=Trying(), running_facts=lambda _: {})
    return run


def restart(settings: Mapping[str, str], *, at_once: bool = False, now: ApplicationReading = RUNS) -> Plan:
    """The plan of a restart with these settings."""
    given: dict[str, str | None] = {**settings}
    return restart_plan(now, declared(releases=(OLD, NEW)), None, given, (), declared().limits, "code", at_once=at_once)


def bump() -> Plan:
    """The plan of a bump in two bounces."""
    of = declared(releases=(OLD, NEW))
    return bump_plan(RUNS, of, NEW, upgrade_path_rules(), (), of.limits, "code")


def trying(run: Run, **changes: object) -> Trying:
    """Another deployer for the run."""
    made = replace(Trying(), **changes)  # type: ignore[arg-type] # its own fields
    vars(run)["deployer"] = made
    return made


@pytest.mark.parametrize("at_once", [False, True])
@pytest.mark.parametrize("takes_settings", [False, True])
def test_settings_that_rows_refuse_are_refused(asked: Run, *, at_once: bool, takes_settings: bool) -> None:
    """With the program's own: exactly once is not in the form. A command that takes no settings hides nothing."""
    trying(asked, takes_settings=takes_settings)
    with pytest.raises(
        Refused, match=r"refuses commit\.interval\.ms=30000 with producer\.transaction\.timeout\.ms=10000"
    ):
        require_startable(asked, restart({"commit.interval.ms": "30000"}, at_once=at_once), RUNS)
    require_startable(asked, restart({"commit.interval.ms": "10000"}, at_once=at_once), RUNS)


def test_what_the_library_itself_refuses_is_refused(asked: Run) -> None:
    """A setting that no row knows."""
    trying(asked, refuses=("my.assignor", "broken"))
    with pytest.raises(Refused, match=r"release 3\.4\.1 cannot start: .*refuses my\.assignor \(producer\): ConfigExc"):
        require_startable(asked, restart({"my.assignor": "broken"}), RUNS)
    assert require_startable(asked, restart({"my.assignor": "sound"}), RUNS) == ()


def test_a_bump_is_tried_with_upgrade_from(asked: Run) -> None:
    """Each of its starts, with all of its settings; no description depends on that one."""
    deployer = trying(asked)
    require_startable(asked, bump(), RUNS)
    assert deployer.asked == [(Target(NEW, (("upgrade.from", "3.4"),)), True), (Target(NEW), True)]
    trying(asked, refuses=("upgrade.from", "3.4"))
    with pytest.raises(Refused, match=r"release 4\.3\.1 cannot start: .*upgrade\.from"):
        require_startable(asked, bump(), RUNS)


def test_a_refusal_that_the_runbook_mends_is_none(asked: Run) -> None:
    """The command takes no settings and prints the program's own, which the runbook sets to another value."""
    trying(asked, takes_settings=False, refuses=("commit.interval.ms", "100"))
    found = require_startable(asked, restart({"commit.interval.ms": "200"}), RUNS)
    assert [one.id for one in found] == ["settings-not-tried"]
    with pytest.raises(Refused, match=r"commit\.interval\.ms \(producer\)"):
        require_startable(asked, restart({"num.stream.threads": "2"}), RUNS)


def test_a_restart_of_what_runs_is_not_tried(asked: Run) -> None:
    """It has started with exactly that."""
    deployer = trying(asked, broken=True)
    plan = restart_plan(
        RUNS, declared(releases=(OLD, NEW)), None, {}, (), declared().limits, "code", at_once=False, restart=True
    )
    assert require_startable(asked, plan, RUNS) == ()
    assert deployer.asked == []


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"broken": True}, "no topology command is declared"),
        ({"prints_facts": False}, "its topology command prints no refusals of the library"),
    ],
)
def test_what_cannot_be_tried_is_named(asked: Run, changes: dict[str, object], why: str) -> None:
    """A value that no release takes is refused all the same."""
    trying(asked, **changes)
    [found] = require_startable(asked, restart({"num.stream.threads": "2"}), RUNS)
    assert found.id == "settings-not-tried"
    assert why in found.message
    with pytest.raises(Refused, match=r"refuses num\.stream\.threads=two"):
        require_startable(asked, restart({"num.stream.threads": "two"}), RUNS)


def test_static_members_are_those_of_the_fleet_entry(asked: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each instance sets its own id, which no command prints."""
    monkeypatch.setattr(Run, "declared", declared(releases=(OLD, NEW), static_membership=True))
    now = reading(instance("orders-1", release=NEW), instance("orders-2", release=NEW))
    with pytest.raises(Refused, match=r"group\.instance\.id=set-by-each-instance with group\.protocol=streams"):
        require_startable(asked, restart({"group.protocol": "streams"}, now=now), now)


def test_a_build_with_a_class_that_does_not_link_is_refused_before_a_stop(asked: Run) -> None:
    """Unless the form has a reason, which the findings show; the finding of another class refuses nothing."""
    trying(asked, unlinked=(NEEDED,))
    with pytest.raises(Refused, match=r"release 4\.3\.1 does not link: AvroSerializer"):
        require_startable(asked, bump(), RUNS)
    asked.record.params["accept_unlinked"] = "OPS-7: never called"  # type: ignore[index] # a dict in this test
    [danger] = [one for one in require_startable(asked, bump(), RUNS) if one.severity == "danger"]
    assert danger.message.endswith("accepted with the reason: OPS-7: never called")
    asked.record.params["accept_unlinked"] = ""  # type: ignore[index] # a dict in this test
    trying(asked, unlinked=(replace(NEEDED, needed_by=""),))
    assert [one.id for one in require_startable(asked, bump(), RUNS)] == ["class-not-linked"]


def test_a_restart_of_what_runs_is_not_judged_by_its_classes(asked: Run) -> None:
    """The build runs already; with another release it is judged."""
    trying(asked, unlinked=(NEEDED,))
    assert require_startable(asked, restart({"num.stream.threads": "2"}), RUNS) == ()
    assert [kept.name for kept in asked.ledger.evidence(asked.key, kind="verdict")] == ["takes_settings"]


@pytest.mark.parametrize(
    ("deployer", "words"),
    [
        ({"prints_facts": False}, "its topology command prints no topology facts (docs/facts.md); look with: java -cp"),
        ({"broken": True}, "not looked at: topology of 3.4.1 cannot be read: no topology command is declared; look"),
        (
            {"unlinked": None},
            "not looked at: its facts were printed by a method of the application, not by the command",
        ),
        ({"unlinked": None, "unread": {"links": "class path: two"}}, "not looked at: class path: two; look with: java"),
        ({"unread": {"links.acme.New": "new.jar: too new"}}, "release 4.3.1: new.jar: too new; look with: java -cp"),
    ],
)
def test_what_was_not_scanned_is_named(asked: Run, deployer: dict[str, object], words: str) -> None:
    """With the reason and the command that looks."""
    trying(asked, **deployer)
    [named] = [one for one in require_startable(asked, bump(), RUNS) if one.id == "links-not-scanned"]
    assert named.severity == "warning"
    assert words in named.message
