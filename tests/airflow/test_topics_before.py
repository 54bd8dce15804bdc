"""A release that reads a topic which does not exist: refused while everything runs, in the plan and before the stop."""

import sys
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from kstreams_runbooks.model.readings.readings import Missing
from lab.application import FROM_RELEASE, streams
from lab.stack import Stack
from world.endings import NOTHING_CHANGED, begun_other, ended
from world.given import command_deployer, declared_as
from world.runs import approve, log_of, question

pytestmark = pytest.mark.long

_RELEASE = "3.4.1.9"
_MORE = """
  Sub-topology: 9
    Source: zones-source (topics: [zones])
      --> none
"""
# What a team's topology command would print of such a release.
_PRINTS = """
import json, subprocess, sys
document = json.loads(subprocess.run(sys.argv[2:-1] + [{old!r}], capture_output=True, check=True).stdout)
more = {more!r} if sys.argv[-1] == {release!r} else ""
print(json.dumps({{**document, "release": sys.argv[-1], "topology": document["topology"].rstrip() + chr(10) + more}}))
"""


@pytest.fixture
def zoned(fresh: Stack) -> Iterator[Stack]:
    """The application with one more release, which reads `zones` beside what the old one reads."""
    deployer: dict[str, Any] = command_deployer(fresh.lab)
    script = fresh.lab.run_dir / "zoned.py"
    script.write_text(_PRINTS.format(old=FROM_RELEASE, more=_MORE, release=_RELEASE), encoding="utf-8")
    own = deployer["commands"]["topology"]["run"]
    deployer["commands"]["topology"]["run"] = [sys.executable, str(script), "-", *own[:-2], "{release}"]
    deployer["releases"] |= {_RELEASE: f"orders:{FROM_RELEASE}"}
    with declared_as(fresh, deployer=deployer, libraries={_RELEASE: FROM_RELEASE}):
        yield fresh


@pytest.fixture
def zones(fresh: Stack) -> Iterator[AdminClient]:
    """The topic that the release reads; gone after the test."""
    admin = AdminClient({"bootstrap.servers": fresh.lab.bootstrap})
    admin.create_topics([NewTopic("zones", 4, 1)])["zones"].result()
    yield admin
    if "zones" in admin.list_topics(timeout=30).topics:
        admin.delete_topics(["zones"])["zones"].result()


def starts(stack: Stack) -> list[object]:
    """When each instance's JVM was started."""
    found = [streams(stack.lab, number) for number in (1, 2)]
    return [one.missing if isinstance(one, Missing) else one.start for one in found]


@pytest.mark.parametrize("dry_run", [True, False])
def test_nothing_is_stopped_for_a_source_topic_that_does_not_exist(zoned: Stack, *, dry_run: bool) -> None:
    """Refused by the plan, before a person is asked; the dry run says the same."""
    before = starts(zoned)
    trial = begun_other(zoned, "stop_and_restart", release=_RELEASE, dry_run=dry_run)
    document = ended(trial, state="failed", outcome=NOTHING_CHANGED)
    assert document["run"]["outcome_sentence"] == (
        f"topic zones does not exist (release {_RELEASE} reads it): create it, then trigger this again"
    )
    assert document["approvals"] == document["cards"] == document["recheck"]["different"] == []
    assert starts(zoned) == before
    assert "Traceback" not in log_of(zoned, trial.run_id, "plan")


def test_a_topic_that_is_deleted_after_the_plan_stops_nothing(zoned: Stack, zones: AdminClient) -> None:
    """It is looked for once more right before the first stop."""
    before = starts(zoned)
    trial = begun_other(zoned, "stop_and_restart", release=_RELEASE)
    question(zoned, trial.run_id)
    zones.delete_topics(["zones"])["zones"].result()
    approve(zoned, trial.run_id, "approve_plan")
    document = ended(trial, state="failed", outcome=NOTHING_CHANGED)
    assert document["run"]["outcome_sentence"].startswith("nothing is stopped: topic zones does not exist")
    assert document["cards"] == []
    assert starts(zoned) == before


def test_plan_change_says_it_too(zoned: Stack) -> None:
    """With what it finds of the topology itself; the whole plan is kept."""
    trial = begun_other(zoned, "plan_change", release=_RELEASE, dry_run=True)
    document = ended(trial, state="failed", outcome=NOTHING_CHANGED)
    assert document["run"]["outcome_sentence"].startswith(f"topic zones does not exist (release {_RELEASE} reads it)")
    assert document["plan"]["after"]["release"] == _RELEASE
