"""What the library refuses of the settings of a program, as the command and the library of the jar find it; no broker.

Each release runs with its own jars. The near misses are settings that the same release takes.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from kstreams_runbooks.decide.releases.settings import setting_findings
from kstreams_runbooks.model.releases.release import Release, within
from kstreams_runbooks.model.releases.settings import SettingCatalogue
from lab.topology_facts import COMMAND, compiled, document, java, reasons

RELEASES = ["3.4.1", "3.9.1", pytest.param("4.3.1", marks=pytest.mark.long), "4.4.0"]
HIDDEN = "k33p-it"


@pytest.fixture(scope="module", params=RELEASES)
def release(request: pytest.FixtureRequest) -> str:
    """Each of three generations, and the newest."""
    found: str = request.param
    return found


@pytest.fixture(scope="module")
def programs(release: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The class path of Programs.java, compiled with a release."""
    return compiled(release, tmp_path_factory.mktemp(release), "Programs.java")


def _tried(programs: str, folder: Path, **settings: str) -> tuple[dict[str, Any], str]:
    """The facts with these settings (`__` for a dot), and everything that was printed."""
    file = folder / "app.properties"
    given = {"application.id": "app", "bootstrap.servers": "kafka:9092"}
    given |= {name.replace("__", "."): value for name, value in settings.items()}
    file.write_text("".join(f"{name}={value}\n" for name, value in given.items()), encoding="utf-8")
    ran = java(programs, COMMAND, "--factory", "Programs::topics", "--properties", str(file))
    assert ran.returncode == 0, ran.stderr
    return document(ran.stdout), f"{ran.stdout}{ran.stderr}"


def _refused(programs: str, folder: Path, **settings: str) -> list[tuple[str, list[str]]]:
    return [(one["by"], one["settings"]) for one in _tried(programs, folder, **settings)[0]["refused"]]


def test_settings_that_the_library_takes(programs: str, tmp_path: Path) -> None:
    """Without the serializers that the clients add every program would be refused; no name is resolved."""
    assert _refused(programs, tmp_path) == []
    once = {"processing__guarantee": "exactly_once_v2", "producer__acks": "all", "commit__interval__ms": "10000"}
    assert _refused(programs, tmp_path, **once, application__server="localhost:8080") == []


def test_settings_that_it_refuses_together(programs: str, release: str, tmp_path: Path) -> None:
    """All are named of which each one alone, left out, ends the refusal; two refusals are two entries."""
    once = {"processing__guarantee": "exactly_once_v2"}
    [(by, names)] = _refused(programs, tmp_path, **once, commit__interval__ms="30000")
    assert (by, names) == ("streams.StreamsConfig", ["commit.interval.ms", "processing.guarantee"])
    found = _refused(programs, tmp_path, **once, acks="1", application__server="localhost")
    by_acks, by_server = ("producer", ["acks", "processing.guarantee"]), ["application.server"]
    own = "streams.StreamsConfig" if release == "4.4.0" else "application.server"
    assert sorted(found) == sorted([by_acks, (own, by_server)])
    found = _refused(programs, tmp_path, num__stream__threads="two", max__task__idle__ms="b")
    assert [names for _, names in found] == [["max.task.idle.ms"], ["num.stream.threads"]]


def test_what_each_release_refuses(programs: str, release: str, tmp_path: Path) -> None:
    """The guarantee that 4.0 lost, static members of the streams protocol, a class that is not there."""
    lost = _refused(programs, tmp_path, processing__guarantee="exactly_once")
    assert lost == ([("streams.StreamsConfig", ["processing.guarantee"])] if release[0] == "4" else [])
    member = {"group__protocol": "streams", "consumer__group__instance__id": "a"}
    both = [("streams.StreamsConfig", ["consumer.group.instance.id", "group.protocol"])]
    alone = [("main consumer", ["group.protocol"])]
    refused = {"3.4.1": [], "3.9.1": alone, "4.3.1": both, "4.4.0": []}
    assert _refused(programs, tmp_path, **member)[:1] == refused[release]
    absent = _refused(programs, tmp_path, default__key__serde="com.acme.None")
    assert absent == [("streams.StreamsConfig", ["default.key.serde"])]
    wrong = _refused(programs, tmp_path, default__timestamp__extractor="java.lang.String")
    assert wrong == [("default.timestamp.extractor", ["default.timestamp.extractor"])]


@pytest.mark.parametrize(
    ("tags", "refused"),
    [
        ({"zone": "x" * 31}, True),
        ({"zone": "x" * 30}, False),
        ({"k" * 21: "v"}, True),
        ({"k" * 20: "v"}, False),
        (dict.fromkeys("abcdef", "1"), True),
        (dict.fromkeys("abcde", "1"), False),
        ({"zone": ""}, "4.3.."),
    ],
)
def test_client_tags_are_refused_by_rule_as_by_the_library(
    programs: str, release: str, tmp_path: Path, *, tags: Mapping[str, str], refused: bool | str
) -> None:
    """A text alone has no library to ask; the rule answers as the release does."""
    config = {f"client.tag.{name}": value for name, value in tags.items()}
    wanted = within(Release.parse(release), (refused,)) if isinstance(refused, str) else refused
    by_rule = setting_findings(config, config, Release.parse(release), Release.parse(release), SettingCatalogue())
    assert any(one.refuse for one in by_rule) is wanted
    given = {name.replace(".", "__"): value for name, value in config.items()}
    assert bool(_refused(programs, tmp_path, **given)) is wanted


def test_upgrade_from_is_tried(programs: str, release: str, tmp_path: Path) -> None:
    """By the configuration and by the assignor."""
    refused = [("streams.StreamsConfig", ["upgrade.from"])]
    assert _refused(programs, tmp_path, upgrade__from="3.5") == (refused if release == "3.4.1" else [])
    assert _refused(programs, tmp_path, upgrade__from="2.3") == (refused if release[0] == "4" else [])
    assert _refused(programs, tmp_path, upgrade__from="3.3") == []


def test_no_value_is_in_the_sentence(programs: str, tmp_path: Path) -> None:
    """Neither that of the refused setting, nor one that no fact shows."""
    jaas = f'org.apache.kafka.common.security.plain.PlainLoginModule required password="{HIDDEN}";'
    facts, printed = _tried(
        programs, tmp_path, num__stream__threads=HIDDEN, sasl__jaas__config=jaas, own__password=HIDDEN
    )
    [one] = facts["refused"]
    assert one["exception"] == "org.apache.kafka.common.config.ConfigException"
    assert one["sentence"].startswith("Invalid value … for configuration num.stream.threads: Not a number")
    assert HIDDEN not in printed


def test_a_config_provider_is_not_asked(programs: str, tmp_path: Path) -> None:
    """Its file is not read: the settings from it were not tried, and the others were."""
    secret = tmp_path / "secret.properties"
    secret.write_text(f"dir={HIDDEN}\n", encoding="utf-8")
    provider = "org.apache.kafka.common.config.provider.FileConfigProvider"
    provided = {"config__providers": "file", "config__providers__file__class": provider}
    facts, printed = _tried(
        programs, tmp_path, **provided, state__dir=f"${{file:{secret}:dir}}", num__stream__threads="two"
    )
    assert [one["settings"] for one in facts["refused"]] == [["num.stream.threads"]]
    assert reasons(facts)["refused", "state.dir"].startswith("setting state.dir comes from a config provider")
    assert HIDDEN not in printed


def test_without_settings_nothing_was_tried(programs: str) -> None:
    """An absent list is not an empty one."""
    ran = java(programs, COMMAND, "--factory", "Programs::windows")
    assert "refused" not in document(ran.stdout)


def test_a_class_that_a_start_makes_an_object_of(programs: str, release: str, tmp_path: Path) -> None:
    """The leader makes the task assignor, each client its interceptors and reporters: only their names are given."""
    assignor = _refused(programs, tmp_path, task__assignor__class="com.acme.Zones")
    assert assignor == ([] if release == "3.4.1" else [("assignor", ["task.assignor.class"])])
    of_library = "org.apache.kafka.streams.processor.assignment.assignors.StickyTaskAssignor"
    assert _refused(programs, tmp_path, task__assignor__class=of_library) == []
    reporters = "org.apache.kafka.common.metrics.JmxReporter"
    assert _refused(programs, tmp_path, metric__reporters=reporters) == []
    absent = _refused(programs, tmp_path, metric__reporters=f"{reporters}, com.acme.Meters")
    assert [names for _, names in absent] == [["metric.reporters"]]
    traced = _refused(programs, tmp_path, producer__interceptor__classes="com.acme.Traced")
    assert traced == [("producer", ["producer.interceptor.classes"])]
