"""What a fleet entry may say of its deployer: its kinds, and the settings that a runbook may set."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from kstreams_runbooks.deployers.scripts import filled
from kstreams_runbooks.fleet import load_fleet
from kstreams_runbooks.fleet.deployers.command import CommandSettings
from kstreams_runbooks.fleet.deployers.docker import DockerSettings
from kstreams_runbooks.fleet.deployers.manual import ManualSettings
from kstreams_runbooks.fleet.deployers.supervisord import SupervisordSettings

Write = Callable[..., Path]
DOCS = Path(__file__).resolve().parents[4] / "docs" / "deployers.md"
ID = ("application_id: orders", "application_id: other")
COMMAND = """
kind: command
instances:
  - {name: orders-1, metrics: "http://one:8778/jolokia"}
  - {name: orders-2, metrics: "http://two:8778/jolokia"}
releases: {"3.4.1": "orders:17", "4.3.1": "orders:18"}
settable: [num.stream.threads]
commands:
  instances: {run: [deploy, instances, "{application_id}"], timeout_s: 15}
  apply: {run: [deploy, apply, "{instance}", "{artifact}", "{settings}"]}
  stop: {run: [deploy, stop, "{instance}"], timeout_s: 120}
  start: {run: [deploy, start, "{instance}"]}
  topology: {run: [deploy, topology, "{release}"]}
"""
MANUAL = """
kind: manual
instances:
  - {name: orders-1, metrics: "http://one:8778/jolokia"}
releases: {"3.4.1": "orders:17", "4.3.1": "orders:18"}
how: change deploy/orders.yaml, Argo CD does the rest
commands:
  instances: {run: [deploy, instances]}
"""


def declared(write: Write, text: str, *changes: tuple[str, str]) -> None:
    """The shipped application with this deployer, under the name `other`."""
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    file = write("other", ID)
    entry = yaml.safe_load(file.read_text(encoding="utf-8")) | {"deployer": yaml.safe_load(text)}
    del entry["libraries"]  # of releases that this deployer does not have
    file.write_text(yaml.safe_dump(entry), encoding="utf-8")


def test_the_teams_own_commands(config: Path, write: Write) -> None:
    """As declared; what is not declared is not there, and the limit of a command has a default."""
    declared(write, COMMAND)
    other = load_fleet(config).application("other")
    assert isinstance(other.deployer, CommandSettings)
    assert other.declared().instances == ("orders-1", "orders-2")
    assert other.declared().releases == ("3.4.1", "4.3.1")
    commands = other.deployer.commands
    assert (commands.stop.timeout_s, commands.start.timeout_s, commands.clear_state) == (120.0, 60.0, None)


def test_a_person(config: Path, write: Write) -> None:
    """Nothing but a name and metrics is needed of an instance; the commands are optional too."""
    declared(write, MANUAL)
    deployer = load_fleet(config).application("other").deployer
    assert isinstance(deployer, ManualSettings)
    assert deployer.commands.instances is not None
    declared(write, MANUAL, ("commands:\n  instances: {run: [deploy, instances]}\n", ""))
    deployer = load_fleet(config).application("other").deployer
    assert isinstance(deployer, ManualSettings)
    assert (deployer.commands.instances, deployer.settable) == (None, ())


@pytest.mark.parametrize(
    ("text", "change", "sentence"),
    [
        (
            COMMAND,
            ("  stop: {", "  halt: {"),
            "deployer.commands.halt is not a known key; known are apply, clear_state",
        ),
        (COMMAND, ("  stop: {", "  stopp: {"), "deployer.commands.stopp is not a known key; did you mean stop"),
        (
            COMMAND,
            ('  start: {run: [deploy, start, "{instance}"]}\n', ""),
            "deployer.commands.start is missing: starts",
        ),
        (COMMAND, ('"{settings}"', "x"), "deployer.commands.apply has no {settings}, so the command does not get it"),
        (COMMAND, ('"{artifact}", ', ""), "deployer.commands.apply has no {release} or {artifact}, so the command"),
        (COMMAND, ('stop, "{instance}"', "stop"), "deployer.commands.stop has no {instance}, so the command does"),
        (
            COMMAND,
            ('deploy, instances, "{application_id}"', 'deploy, instances, "{instance}"'),
            "deployer.commands.instances has the placeholder {instance}; known is {application_id}",
        ),
        (
            COMMAND,
            ('stop, "{instance}"', 'stop, "{instance}{"'),
            "deployer.commands.stop has a stray brace",
        ),
        (COMMAND, ("timeout_s: 120", "timeout_s: 0"), "deployer.commands.stop.timeout_s: 0 must be greater than 0"),
        (
            COMMAND,
            ('start: {run: [deploy, start, "{instance}"]}', "start: {run: deploy}"),
            'start.run: "deploy" must be a list',
        ),
        (COMMAND, ('"3.4.1": "orders:17"', '3.10: "orders:17"'), "deployer.releases has the key 3.1, which YAML reads"),
        (COMMAND, ("name: orders-2", "name: orders-1"), "deployer.instances has name orders-1 twice"),
        (COMMAND, ("http://two", "http://one"), "deployer.instances has metrics http://one:8778/jolokia twice"),
        (COMMAND, ('metrics: "http://two:8778/jolokia"', "x: 1"), "deployer.instances[1].metrics is missing: base URL"),
        (MANUAL, ("instances: {run", "apply: {run"), "deployer.commands.apply is not a known key; known are instances"),
        (MANUAL, ("how: ", "howto: "), "deployer.howto is not a known key; did you mean how?"),
        (
            MANUAL,
            ("kind: manual", "kind: person"),
            "has the kind 'person', which is not one of 'supervisord', 'docker', 'c",
        ),
    ],
)
def test_a_bad_deployer_gets_one_sentence(
    config: Path, write: Write, text: str, change: tuple[str, str], sentence: str
) -> None:
    """Field and reason, of the kind that is declared and of no other."""
    declared(write, text, change)
    problems = [str(each) for each in load_fleet(config).disabled["other"]]
    assert any(sentence in each for each in problems), problems


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        ("ssl.key.password", "is a secret by its name"),
        ("sasl.jaas.config", "is a secret by its name"),
        ("ssl.keystore.key", "is a secret by its name"),
        ("main.consumer.sasl.oauthbearer.client.credentials.client.secret", "is a secret by its name"),
        ("basic.auth.user.info", "is a secret by its name"),
        ("my.API.KEY", "is a secret by its name"),
        ("application.id", "identifies the application or instance"),
        ("bootstrap.servers", "identifies the application or instance"),
        ("state.dir", "identifies the application or instance"),
        ("group.instance.id", "identifies the application or instance"),
        ("main.consumer.client.id", "identifies the application or instance"),
        ("release", "is the key of the release in a deployer"),
        ("num stream threads", "must match pattern"),
    ],
)
@pytest.mark.parametrize("text", [COMMAND, MANUAL], ids=["command", "manual"])
def test_a_setting_that_no_runbook_may_set(config: Path, write: Write, text: str, key: str, reason: str) -> None:
    """Secrets, and what says who an instance is: one sentence with the key, and a way out."""
    text = text.replace("settable: [num.stream.threads]\n", "") + f"settable: [num.stream.threads, {key}]\n"
    declared(write, text)
    (problem,) = (str(each) for each in load_fleet(config).disabled["other"])
    assert f'deployer.settable[1]: "{key}" {reason}' in problem


def test_settings_of_an_application_under_supervisord(config: Path, write: Write) -> None:
    """The same list for every kind; a key named twice is a slip."""
    settable = "  settable: [num.stream.threads, topology.optimization, topic.orders, topic.customers, clean.up]\n"
    write("other", ID, (settable, "  settable: [num.stream.threads, max.task.idle.ms]\n"))
    deployer = load_fleet(config).application("other").deployer
    assert isinstance(deployer, SupervisordSettings)
    assert deployer.settable == ("num.stream.threads", "max.task.idle.ms")
    write("other", ID, (settable, "  settable: [num.stream.threads, num.stream.threads]\n"))
    (problem,) = (str(each) for each in load_fleet(config).disabled["other"])
    assert "deployer.settable names num.stream.threads twice; remove one" in problem


@pytest.mark.parametrize("kind", [DockerSettings, CommandSettings, ManualSettings])
def test_the_example_in_the_docs_is_right(
    config: Path, write: Write, kind: type[DockerSettings] | type[CommandSettings] | type[ManualSettings]
) -> None:
    """As a reader would copy it."""
    examples = [yaml.safe_load(text) for text in re.findall(r"```yaml\n(.*?)```", DOCS.read_text("utf-8"), re.DOTALL)]
    file = write("other", ID)
    for example in examples:
        entry = yaml.safe_load(file.read_text(encoding="utf-8")) | {"libraries": {}} | example
        file.write_text(yaml.safe_dump(entry), encoding="utf-8")
        deployer = load_fleet(config).application("other").deployer
        if isinstance(deployer, kind):
            return
    raise AssertionError(f"no example of {kind.__name__}")


def test_an_argument_may_be_a_script_of_several_lines_and_the_program_may_not(config: Path, write: Write) -> None:
    """`bash -c` with a block of text; nothing of it steers a terminal."""
    script, stop = 'set -e\n\tdeploy stop "$1" # ${{HOME}}', 'stop: {run: [deploy, stop, "{instance}"], timeout_s: 120}'
    words = ["bash", "-c", script, "deploy", "{instance}"]
    declared(write, COMMAND, (stop, f"stop: {{run: {json.dumps(words)}}}"))
    deployer = load_fleet(config).application("other").deployer
    assert isinstance(deployer, CommandSettings)
    assert filled(deployer.commands.stop, {"instance": "one"})[2:] == [
        script.replace("{{HOME}}", "{HOME}"),
        "deploy",
        "one",
    ]
    for wrong in (["ba\nsh", "{instance}"], ["bash", "\x1b[2J{instance}"], ["bash", "a\rb", "{instance}"]):
        declared(write, COMMAND, (stop, f"stop: {{run: {json.dumps(wrong)}}}"))
        assert "does not print" in str(load_fleet(config).disabled["other"][0])
