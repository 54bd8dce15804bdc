"""Declarations that are anything but: each disables its own application at a bounded cost, and nothing else."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.fleet import load_fleet, release_declaration
from kstreams_runbooks.fleet.notifications import notification_settings
from kstreams_runbooks.fleet.topology_declaration import read_topology_declaration
from kstreams_runbooks.watch.settings import check_settings
from world.called import counted_calls
from world.hostile_files import CASES, make

# Nine thousand instances cost the most, about half of it.
_MOST_CALLS = 3_000_000
_CLUSTER = "connection: kafka_{name}\n"
_APPLICATION = """\
application_id: {name}
cluster: {cluster}
inputs: [in]
owner: team
approvers: [{approver}]
deployer:
  kind: manual
  instances:
    - name: one
      metrics: http://127.0.0.1:1/jolokia
  releases: {{"4.3.1": "4.3.1"}}
"""


@contextmanager
def within_the_limit() -> Iterator[None]:
    """By the number of calls: the machine may be busy with something else."""
    with counted_calls() as calls:
        yield
    assert calls.number < _MOST_CALLS


def declare(config: Path, name: str, *, cluster: str = "good", approver: str = "approver") -> Path:
    file = config / "applications" / f"{name}.yaml"
    file.write_text(_APPLICATION.format(name=name, cluster=cluster, approver=approver), encoding="utf-8")
    return file


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A fleet of one application on one cluster, both good."""
    for folder in ("clusters", "applications"):
        (tmp_path / folder).mkdir()
    (tmp_path / "clusters" / "good.yaml").write_text(_CLUSTER.format(name="good"), encoding="utf-8")
    declare(tmp_path, "good")
    return tmp_path


def is_a_sentence(text: str, file: Path) -> bool:
    return text.startswith(str(file)) and text.isprintable() and len(text) < 2000


@pytest.mark.parametrize("case", CASES)
def test_a_bad_application_disables_itself(config: Path, case: str) -> None:
    """The other one is loaded, and asking for the bad one says what is wrong with its file."""
    bad = make(case, config / "applications" / "bad.yaml")
    with within_the_limit():
        fleet = load_fleet(config)
    assert (set(fleet.applications), set(fleet.disabled)) == ({"good"}, {"bad"})
    assert is_a_sentence(str(fleet.disabled["bad"][0]), bad)
    with pytest.raises(BadInput, match="application bad is disabled"):
        fleet.application("bad")


@pytest.mark.parametrize("case", CASES)
def test_a_bad_cluster_disables_its_own_applications(config: Path, case: str) -> None:
    """Those of the other cluster are loaded."""
    bad = make(case, config / "clusters" / "bad.yaml")
    declare(config, "lost", cluster="bad")
    with within_the_limit():
        fleet = load_fleet(config)
    assert (set(fleet.applications), set(fleet.disabled), set(fleet.clusters)) == ({"good"}, {"lost"}, {"good"})
    with pytest.raises(BadInput, match=f"cluster bad is disabled: {bad}"):
        fleet.cluster("bad")


@pytest.mark.parametrize("case", CASES)
def test_a_bad_release_is_never_taken_for_one_that_declares_nothing(config: Path, case: str) -> None:
    """Bad input that names the file, also from `plan`; the fleet entry itself stays."""
    bad = make(case, config / "applications" / "good" / "4.3.1.yaml")
    with within_the_limit(), pytest.raises(BadInput) as refused:
        release_declaration("good", "4.3.1", "4.3.1", config)
    assert is_a_sentence(str(refused.value), bad)
    with within_the_limit(), pytest.raises(BadInput):
        read_topology_declaration(bad)
    assert set(load_fleet(config).applications) == {"good"}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(
    ("name", "read"), [("fleet_check.yaml", check_settings), ("notifications.yaml", notification_settings)]
)
def test_bad_settings_are_never_taken_for_none(
    config: Path, name: str, read: Callable[[Path], object], case: str
) -> None:
    """A dangling link too: with the defaults nothing would be said of what the file was to say."""
    bad = make(case, config / name)
    with within_the_limit(), pytest.raises(BadInput) as refused:
        read(config)
    assert is_a_sentence(str(refused.value), bad)
    assert set(load_fleet(config).applications) == {"good"}


@pytest.mark.parametrize("lock", [".#good.yaml", ".good.yaml.swp", "good.yaml~", "#good.yaml#", "4913"])
def test_an_editors_file_does_not_freeze_the_fleet(config: Path, lock: str) -> None:
    """What is declared after it was left there counts, whoever may approve first of all."""
    load_fleet(config)
    (config / "applications" / lock).symlink_to("me@host.1234:5678")
    declare(config, "good", approver="another")
    fleet = load_fleet(config)
    assert (fleet.application("good").approvers, fleet.problems) == (("another",), ())


def test_a_dangling_declaration_does_not_freeze_the_fleet(config: Path) -> None:
    """It is disabled alone; what it leads to counts as soon as it is there, and what is there as soon as it goes."""
    target = config / "elsewhere.yaml"
    (config / "applications" / "a.yaml").symlink_to(target)
    assert set(load_fleet(config).disabled) == {"a"}
    declare(config, "good", approver="another")
    assert load_fleet(config).application("good").approvers == ("another",)
    # Written through the link.
    declare(config, "a")
    assert set(load_fleet(config).applications) == {"a", "good"}
    target.unlink()
    assert set(load_fleet(config).disabled) == {"a"}


def test_links_as_kubernetes_mounts_them(config: Path) -> None:
    """`orders.yaml -> ..data/orders.yaml -> ..2026/orders.yaml`, replaced as a whole."""
    applications = config / "applications"
    for number in (1, 2):
        (applications / f"..{number}").mkdir()
        declare(config, "good", approver=f"approver-{number}").rename(applications / f"..{number}" / "good.yaml")
    (applications / "..data").symlink_to("..1")
    (applications / "good.yaml").symlink_to("..data/good.yaml")
    assert load_fleet(config).application("good").approvers == ("approver-1",)
    (applications / "..new").symlink_to("..2")
    (applications / "..new").rename(applications / "..data")
    assert load_fleet(config).application("good").approvers == ("approver-2",)


def test_a_replaced_file_of_the_same_size_and_time_counts(config: Path) -> None:
    """As `cp -p` and `git checkout` may leave it."""
    file = declare(config, "good", approver="first")
    before = file.stat()
    assert load_fleet(config).application("good").approvers == ("first",)
    new = declare(config, "new", approver="other")
    new.write_text(new.read_text().replace("application_id: new", "application_id: good"), encoding="utf-8")
    new.rename(file)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert file.stat().st_size == before.st_size
    assert load_fleet(config).application("good").approvers == ("other",)


def test_a_folder_that_cannot_be_listed_is_not_an_empty_one(config: Path) -> None:
    """Nothing is said to be declared, and nothing to be undeclared."""
    (config / "applications").rename(config / "gone")
    (config / "applications").symlink_to("applications")
    fleet = load_fleet(config)
    for said in (str(fleet.empty), str(fleet.problems[0]), *fleet.not_looked_at):
        assert "cannot be listed" in said
    with pytest.raises(BadInput, match="application good: not known"):
        fleet.application("good")


def test_names_that_would_make_lines_of_their_own(config: Path) -> None:
    """Of files and of keys: printed in one line, escaped."""
    make("a text", config / "applications" / "x\nFAKE.yaml")
    (config / "applications" / "key.yaml").write_text('"a\\nFAKE `x`": 1\n', encoding="utf-8")
    problems = [str(problem) for problem in load_fleet(config).problems]
    assert len(problems) > 1
    assert all(problem.isprintable() for problem in problems)


def test_a_variable_used_ten_thousand_times(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it would fill the memory with is limited like the file itself."""
    monkeypatch.setenv("LONG", "x" * 100_000)
    declare(config, "bad").write_text("a: [" + "'${LONG}', " * 10_000 + "]\n", encoding="utf-8")
    with within_the_limit():
        fleet = load_fleet(config)
    assert "characters (the limit) with variables such as LONG" in str(fleet.disabled["bad"][0])


@pytest.mark.parametrize(
    "instances",
    [
        "".join(f"{{name: i{n}, metrics: 'http://h:{n}/j'}}, " for n in range(9_000)),
        "".join(f"{{name: i{n}, metrix: 'http://h:{n}/j'}}, " for n in range(9_000)),
        "1, " * 40_000,
    ],
)
def test_lists_as_long_as_they_may_be(config: Path, instances: str) -> None:
    """Nine thousand instances, right or wrong, are compared and reported in time, the first twenty problems by name."""
    text = _APPLICATION.format(name="many", cluster="good", approver="x")
    text = text.replace("[in]", "[" + ", ".join(f"t{n % 2_000}" for n in range(4_000)) + "]")
    begin, end = text.index("  instances:"), text.index("  releases:")
    declare(config, "many").write_text(f"{text[:begin]}  instances: [{instances}]\n{text[end:]}", encoding="utf-8")
    with within_the_limit():
        fleet = load_fleet(config)
    assert 0 < len(fleet.disabled["many"]) <= 21
