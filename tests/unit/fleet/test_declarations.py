"""What a declaration may say, and the sentence that a bad one gets."""

from collections.abc import Callable
from pathlib import Path

import pytest
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.fleet import Limits, load_fleet
from kstreams_runbooks.fleet.deployers.supervisord import SupervisordSettings

Write = Callable[..., Path]
CONFIG = Path(__file__).resolve().parents[3] / "config"
ID = ("application_id: orders", "application_id: other")


def problem(config: Path, name: str) -> str:
    """The only problem of one file, after its path."""
    loaded = load_fleet(config)
    assert name not in loaded.applications
    assert "orders" in loaded.applications, "the good one stays"
    (only,) = loaded.disabled[name]
    assert str(only).startswith(f"{config}/applications/{name}.yaml")
    return str(only).removeprefix(f"{config}/applications/{name}.yaml").removeprefix(": ")


def test_the_shipped_fleet_is_right() -> None:
    """The demo's declarations as they stand in the repository."""
    fleet = load_fleet(CONFIG)
    assert (fleet.problems, fleet.warnings) == ((), ())
    orders = fleet.application("orders")
    assert fleet.cluster(orders.cluster).connection == "kafka_demo"
    assert isinstance(orders.deployer, SupervisordSettings)
    assert orders.deployer.instances[1].state_dir == Path("/srv/demo/instances/orders-2/state")
    assert orders.deployer.topology[2] == "{directory}/*"
    assert (orders.production, orders.four_eyes, orders.static_membership) == (False, True, True)


def test_an_approver_may_have_the_id_that_airflow_knows(config: Path, write: Write) -> None:
    """Decisions see logins; a number is text, as Airflow has it."""
    write("other", ID, ("approvers: [approver, admin]", "approvers: [approver, {login: admin, id: 7}]"))
    declared = load_fleet(config).application("other").declared()
    assert (declared.approvers, declared.approver_ids) == (("approver", "admin"), (("admin", "7"),))
    for wrong, sentence in (
        ("{login: admin}", "approvers[1].id is missing: id of that user in Airflow"),
        ("{login: admin, id: 7, name: x}", "approvers[1].name is not a known key"),
        ("{login: approver, id: 7}", "names approver twice"),
        ("[admin]", "approvers[1]"),
    ):
        write("other", ID, ("approvers: [approver, admin]", f"approvers: [approver, {wrong}]"))
        assert sentence in problem(config, "other"), wrong


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (("bake_s: 10", "bake_s: -5"), "limits.bake_s: -5 must be greater than or equal to 0"),
        (("bake_s: 10", "bake_s: soon"), 'limits.bake_s: "soon" must be a valid number'),
        (("max_lag: 1000", "max_lag: yes"), "limits.max_lag: true must be a number"),
        (("bake_s: 10", "bake_s: .nan"), "limits.bake_s: NaN must be a finite number"),
        (("bake_s: 10", "bake_time: 10"), "limits.bake_time is not a known key; did you mean bake_s?"),
        (
            ("gate_ceiling_s: 300", "gate_ceiling_s: 2"),
            "limits.gate_ceiling_s: 2 is too short: gate_good_readings 3 at",
        ),
        (("owner:", "ownr:"), "owner is missing: team that answers for it"),
        (("zone: UTC", "zone: Mars/Base"), 'zone: "Mars/Base" is not an IANA time zone; give one such as Eu'),
        (("zone: UTC", "zone: Europe"), 'zone: "Europe" is not an IANA time zone'),
        (("cluster: demo", "cluster: dmo"), 'cluster: "dmo" is not declared in'),
        (("kind: supervisord", "kind: systemd"), "deployer has the kind 'systemd', which is not one of 'supervisord'"),
        (("  kind: supervisord\n", ""), "deployer has no `kind`"),
        (("program: orders-2", "progam: x"), "deployer.instances[1].program is missing"),
        (("name: orders-2", "name: orders-1"), "deployer.instances has name orders-1 twice"),
        (("orders-2/state", "orders-1/state/x"), "deployer.instances has overlapping state_dir"),
        (("state_dir: ${DEMO_DIR}/instances/orders-2/state", "state_dir: state"), "must be an absolute path"),
        (
            ("state_dir: ${DEMO_DIR}/instances/orders-2/state", "state_dir: /tmp"),
            "is too close to the root of the disk",
        ),
        (("state_dir: ${DEMO_DIR}/instances/orders-2/state", "state_dir: /a/../b/c"), "must not contain '..'"),
        (("${DEMO_METRICS_2}", "localhost:19012"), 'instances[1].metrics: "localhost:19012" must begin with http'),
        (('"3.4.1":', '"3.4":'), "deployer.releases.3.4 is not a release; give one such as 4.3.1"),
        (('"3.4.1":', "3.10:"), "deployer.releases has the key 3.1, which YAML reads as a number"),
        (('"{directory}/*"', '"{folder}/*"'), "has the placeholder {folder}; known are {release}, {directory} and {"),
        (("approvers: [approver, admin]", "approvers: []"), "approvers is empty, so no plan could ever be approved"),
        (("approvers: [approver, admin]", "approvers: [me, me]"), "approvers names me twice"),
        (("automatic_approval: false", "automatic_approval: true"), "automatic_approval: true"),
        (("inputs: [orders, customers]", "inputs: orders"), 'inputs: "orders" must be a list'),
        (("inputs: [orders, customers]", "inputs: [or ders]"), 'inputs[0]: "or ders" must match pattern'),
        (('table_aggregations: "yes"', "table_aggregations: maybe"), "must be 'yes', 'no' or 'unknown'"),
        (("owner: team-orders", "owner: a\nowner: b"), "line 147 has the key owner a second time"),
        (("inputs: [orders, customers]", "inputs: [orders"), "is not valid YAML: line"),
        (("owner: team-orders", "owner: ${NOT_SET}"), 'owner: "${NOT_SET}" needs NOT_SET, which is not set'),
        (("owner: team-orders", "owner: a\nname: b"), "name is not a key: the name is the file's stem"),
    ],
)
def test_a_bad_file_gets_one_sentence(config: Path, write: Write, change: tuple[str, str], sentence: str) -> None:
    """File, field, value, reason; the other application is not touched by it."""
    write("bad", ID, change)
    problems = [str(each) for each in load_fleet(config).disabled["bad"]]
    prefix = f"{config}/applications/bad.yaml"
    assert all(each.startswith(prefix) for each in problems)
    assert any(sentence in each for each in problems), problems
    assert "orders" in load_fleet(config).applications


def test_every_problem_of_a_file_is_told(config: Path, write: Write) -> None:
    """Not one per try; what only follows from another is left out."""
    write("bad", ID, ("production: false", "production: perhaps"), ("bake_s: 10", "bake_s: -5"))
    assert [each.field for each in load_fleet(config).disabled["bad"]] == ["production", "limits.bake_s"]
    with pytest.raises(
        BadInput, match=r"application bad is disabled: .*production: .* \(and 1 more: kstreams-runbooks"
    ):
        load_fleet(config).application("bad")


def test_yes_and_no_need_no_quotes(config: Path, write: Write) -> None:
    """YAML reads them as true and false; unknown counts as used."""
    write(
        "other",
        ID,
        ('table_aggregations: "yes"', "table_aggregations: no"),
        ('foreign_key_joins: "yes"', "foreign_key_joins: unknown"),
    )
    other = load_fleet(config).application("other")
    assert (other.table_aggregations, other.uses) == ("no", ("foreign_key_joins",))


def test_production_and_four_eyes_are_assumed(config: Path, write: Write) -> None:
    """What is not said is taken in the careful sense."""
    write("other", ID, ("production: false\nfour_eyes: true\nautomatic_approval: false\n", ""))
    other = load_fleet(config).application("other")
    assert (other.production, other.four_eyes, other.automatic_approval) == (True, True, False)


def test_automatic_approval_is_for_non_production(config: Path, write: Write) -> None:
    """In production it disables the application; elsewhere nobody has to be named."""
    automatic = ("four_eyes: true\nautomatic_approval: false", "automatic_approval: true")
    write("other", ID, automatic, ("approvers: [approver, admin]", "approvers: []"))
    assert not load_fleet(config).application("other").four_eyes
    write("bad", ID, automatic, ("production: false", "production: true"))
    assert problem(config, "bad").startswith("automatic_approval: true is only allowed if production is false")


def test_state_dir_defaults_to_the_instances_folder(config: Path, write: Write) -> None:
    """`state` below it."""
    write("other", ID, ("      state_dir: ${DEMO_DIR}/instances/orders-2/state\n", ""))
    deployer = load_fleet(config).application("other").deployer
    assert isinstance(deployer, SupervisordSettings)
    assert deployer.instances[1].state_dir == Path("/srv/demo/instances/orders-2/state")


def test_a_value_from_the_environment_is_not_shown(config: Path, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sentence has what the file has: it may be a password."""
    monkeypatch.setenv("SECRET", "hunter2 is no address")
    write("bad", ID, ("${DEMO_SUPERVISOR}", "${SECRET}"))
    assert '"${SECRET}"' in problem(config, "bad")
    assert "hunter2" not in problem(config, "bad")


def test_declared_has_the_limits_of_the_form(config: Path) -> None:
    """Always floats, because a digest is taken over them; a bad one is refused by name."""
    orders = load_fleet(config).application("orders")
    declared = orders.declared({"bake_s": 5, "max_lag": 7})
    assert dict(declared.limits)["bake_s"] == 5.0
    assert {type(value) for _, value in declared.limits} == {float}
    assert declared.instances == ("orders-1", "orders-2")
    assert declared.releases == ("3.4.1", "3.9.1", "4.3.1", "4.3.1.1", "4.3.1.2", "4.4.0")
    assert dict(orders.declared().limits)["bake_s"] == 10.0
    with pytest.raises(BadInput, match="limits of orders: bake_s: -1 must be greater"):
        orders.declared({"bake_s": -1})
    with pytest.raises(BadInput, match=r"bake is not a known key; did you mean bake_s\?"):
        orders.declared({"bake": 1})


def test_every_limit_says_its_unit_and_reason() -> None:
    """Forms and docs print them."""
    for name, field in Limits.model_fields.items():
        assert field.description, name
        assert len(field.description) > 30, name
