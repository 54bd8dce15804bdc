"""Settings of two sides: what a person reads of them, what is not known, and what depends on them.

Covers decide/comparison/settings
"""

import pytest
from kstreams_runbooks.decide.change.rules import fired
from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.comparison.setting_facts import DEFAULTS, cleaned_sooner_by, shown
from kstreams_runbooks.decide.comparison.settings import settings
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.topology.change import Subject
from kstreams_runbooks.model.topology.declaration import Declaration, DeclaredStore
from kstreams_runbooks.rules import release_settings, topology_change_rules
from world.pairs import PAIRS, described

STATEFUL, UNNAMED, WITHOUT = "threads-added", "lambda-changed-in-unnamed-application", "map-to-map-values-without-state"
NAMES = "ensure.explicit.internal.resource.naming"
EXTRACTOR = {"default.timestamp.extractor": "org.example.Mine"}
KEY_VALUE = {"orders-store": DeclaredStore(kind="key_value")}


def of(
    before: dict[str, str] | None,
    after: dict[str, str] | None,
    pair: str = STATEFUL,
    stores: dict[str, DeclaredStore] | None = None,
    library: str | None = None,
) -> dict[str, Subject]:
    """Subjects by name."""
    release = None if library is None else Release(library)
    old, new = (
        Side(topology, Declaration(config=config, stores=stores or {}, library=release))
        for topology, config in zip(described(pair), (before, after), strict=True)
    )
    return {one.name: one for one in settings(Compared(old, new), release_settings())}


def ids(*subjects: Subject) -> set[str]:
    """Rules that fire."""
    return {one.id for one in fired(subjects, topology_change_rules()).findings}


def undecided(*subjects: Subject) -> dict[str, str]:
    """Rules that may fire, and what to declare."""
    return {one.id: ", ".join(map(str, one.asked)) for one in fired(subjects, topology_change_rules()).undecided}


@pytest.mark.parametrize(
    "name",
    [
        "sasl.jaas.config",
        "consumer.ssl.keystore.password",
        "ssl.keystore.key",
        "ssl.keystore.certificate.chain",
        "my.token",
        "admin.sasl.oauthbearer.client.credentials.client.secret",
    ],
)
def test_a_secret_is_never_shown(name: str) -> None:
    """That it changed is shown."""
    subject = of({name: "old-secret"}, {name: "new-secret"})[name]
    assert "setting-changed" in ids(subject)
    assert "secret" not in subject.said["before"] + subject.said["after"]
    assert (subject.said["before"], shown(name, "")) == ("(hidden)", "not set")
    findings = fired([subject], topology_change_rules()).findings
    assert findings
    assert "old-secret" not in "".join(finding.message for finding in findings)


def test_every_password_of_the_catalogue_is_a_secret() -> None:
    """Whatever a release takes as a password is one."""
    names = {row.name for row in release_settings().rows if row.type == "password"}
    assert len(names) > 5
    assert {shown(name, "x") for name in names} == {"(hidden)"}
    assert {shown(name, "x") for name in ("default.key.serde", "topology.optimization", "max.poll.records")} == {"x"}


def test_a_change_is_shown_with_what_the_setting_sets() -> None:
    """Old, new, and one clause from the catalogue; of the application's own settings there is none."""
    found = of({"client.id": "a", "my.own": "1"}, {"client.id": "b", "my.own": "2"})
    fired_rules = fired(found.values(), topology_change_rules()).findings
    assert [one.message for one in fired_rules if one.id == "setting-changed"] == [
        "client.id a → b; it controls the prefix of client ids, thread names and metrics",
        "my.own 1 → 2",
    ]


def test_the_new_name_of_a_setting_wins() -> None:
    """As in the library; the old one is then without effect."""
    both = {"cache.max.bytes.buffering": "0", "statestore.cache.max.bytes": "1024"}
    assert ids(*of(both, {"statestore.cache.max.bytes": "1024"}).values()) == set()
    assert "record-cache-changed" in ids(of(both, {"cache.max.bytes.buffering": "0"})["cache.max.bytes.buffering"])


@pytest.mark.parametrize("name", sorted(DEFAULTS))
def test_defaults_are_those_of_the_newest_release(name: str) -> None:
    """They are the same in every release that has the setting."""
    rows = [row for row in release_settings().rows if row.name == name and "streams" in row.of]
    wanted = DEFAULTS[name].replace("/tmp/", "${java.io.tmpdir}/")  # noqa: S108 - what the library takes
    assert {row.default for row in rows} == {wanted}


def test_the_commit_interval_has_another_default_with_exactly_once() -> None:
    """30 s, or 100 ms."""
    eos = {"processing.guarantee": "exactly_once_v2"}
    interval = "commit.interval.ms"
    assert not ids(of({}, {interval: "30000"})[interval])
    assert "commit-interval-changed" in ids(of({}, {interval: "100"})[interval])
    assert not ids(of(eos, {**eos, interval: "100"})[interval])


def test_a_side_that_gives_no_settings_leaves_what_matters_open() -> None:
    """A setting of the other side may be the same there; what needs no action is not asked for."""
    given = {"bootstrap.servers": "a:1", **EXTRACTOR, "upgrade.from": "3.4", NAMES: "true", "client.id": "x"}
    found = of(None, given, UNNAMED)
    open_ = undecided(*found.values())
    assert open_["cluster-changed"] == "config.bootstrap.servers (old)"
    assert "config.default.timestamp.extractor (old)" in open_["timestamp-extractor-changed"]
    assert open_["generated-names-refused"] == f"config.{NAMES} (old)"
    assert "setting-changed" not in open_
    assert ids(*found.values()) == {"upgrade-from-left-behind"}
    assert "upgrade-from-left-behind" in undecided(*of(given, None, UNNAMED).values())


def test_a_cluster_that_one_side_leaves_out_is_not_known() -> None:
    """Every application has one, in a file or in the environment."""
    found = of({"bootstrap.servers": "a:1"}, {})
    assert undecided(found["bootstrap.servers"]) == {"cluster-changed": "config.bootstrap.servers"}
    assert "bootstrap.servers" not in of({}, {})


def test_whether_stores_go_by_timestamps_has_to_be_declared() -> None:
    """A store's kind says it; a suppression and a window do, a key-value store does not."""
    asked = undecided(of({}, EXTRACTOR)["default.timestamp.extractor"])
    assert asked == {"timestamp-extractor-changed": "stores.orders-store.kind (new)"}
    for stores, runbook in (
        (KEY_VALUE, "rolling_bounce"),
        ({"orders-store": DeclaredStore(source_table=True)}, "rolling_bounce"),
        ({"orders-store": DeclaredStore(kind="session")}, "reset_and_cleanup"),
    ):
        subject = of({}, EXTRACTOR, stores=stores)["default.timestamp.extractor"]
        found = fired([subject], topology_change_rules()).findings
        assert [one.runbooks[0] for one in found if one.covered_by is None] == [runbook]
    suppressed = of({}, EXTRACTOR, "suppress-disabled")["default.timestamp.extractor"]
    assert suppressed.facts["timed"] is True or "stores." in str(undecided(suppressed))
    assert of({}, EXTRACTOR, WITHOUT)["default.timestamp.extractor"].facts["timed"] is False


@pytest.mark.parametrize(("library", "refused"), [("4.0.2", False), ("4.1.0", True), (None, True)])
def test_names_are_checked_from_the_release_that_has_the_setting(library: str | None, refused: bool) -> None:
    """Older releases ignore it; a release that is not given may be a new one."""
    subject = of({}, {NAMES: "TRUE"}, UNNAMED, library=library)[NAMES]
    assert ("generated-names-refused" in ids(subject)) is refused


def test_a_foreign_key_joins_own_store_is_not_checked() -> None:
    """StreamsBuilder of 4.1.0 and 4.3.1 names changelogs, stores and repartition topics, never this one."""
    pair = "foreign-key-computed-from-other-field"
    assert of({}, {NAMES: "true"}, pair)[NAMES].facts["refuses_names"] is True
    named = {
        f"{topic}-STATE-STORE-{at}": f"{topic}-store"
        for topic, at in (("orders", "0000000000"), ("customers", "0000000003"))
    }
    text = (PAIRS / pair / "after.txt").read_text(encoding="utf-8")
    for old, new in named.items():
        text = text.replace(old, new)
    topology = parse_topology(text)
    assert topology.stores > {"orders-store", "customers-store"}
    versions = (Side(topology, Declaration(config=config)) for config in ({}, {NAMES: "true"}))
    [subject] = [one for one in settings(Compared(*versions)) if one.name == NAMES]
    assert subject.facts["refuses_names"] is False


@pytest.mark.parametrize(("value", "none"), [("0", True), ("-1", True), (" +0 ", True), ("1", False), ("+-3", False)])
def test_threads_that_process_nothing(value: str, none: bool) -> None:
    """What is no number at all is refused by the release, and is no traceback here."""
    assert (
        of({"num.stream.threads": "1"}, {"num.stream.threads": value})["num.stream.threads"].facts["no_threads"] is none
    )


@pytest.mark.parametrize(
    ("before", "after", "sooner"),
    [
        ({}, {"state.cleanup.delay.ms": "60000"}, ("state.cleanup.delay.ms",)),
        ({"state.cleanup.delay.ms": "60000"}, {}, ()),
        ({}, {"state.cleanup.delay.ms": "600000"}, ()),
        ({}, {"state.cleanup.dir.max.age.ms": "86400000"}, ("state.cleanup.dir.max.age.ms",)),
        ({"state.cleanup.dir.max.age.ms": "5"}, {"state.cleanup.dir.max.age.ms": "-1"}, ()),
        ({}, {"state.cleanup.delay.ms": "soon"}, ("state.cleanup.delay.ms",)),
        (None, {"state.cleanup.delay.ms": "60000"}, ()),
    ],
)
def test_directories_that_are_deleted_sooner(
    before: dict[str, str] | None, after: dict[str, str], sooner: tuple[str, ...]
) -> None:
    """A longer time, or none, deletes nothing sooner; a value that is no number may be any."""
    old, new = (
        Side(topology, Declaration(config=config, library=Release("4.3.1")))
        for topology, config in zip(described(STATEFUL), (before, after), strict=True)
    )
    assert cleaned_sooner_by(Compared(old, new)) == sooner
