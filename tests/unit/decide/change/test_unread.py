"""The reason why the program does not show a fact, next to the field to declare."""

from kstreams_runbooks.decide.change.reading import read_change
from kstreams_runbooks.decide.change.unread import with_reasons
from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.model.topology.change import Undecided, Undeclared
from kstreams_runbooks.model.topology.declaration import Declaration
from kstreams_runbooks.rules import topology_change_rules, upgrade_path_rules
from world.sides import COUNTS, RENAMED

LAMBDA = "operator by-customer may give each record another key, and its code is not readable; declare the key"
NOT_READ = {
    "stores.counts.key_of": LAMBDA,
    "stores.totals.value_serde.schema_version": "class Total does not show the version; declare it",
    "config.num.stream.threads": "not a number; correct it",
    "suppressions.closed": "its class is not known",
}
COMPARED = Compared(
    Side(parse_topology(COUNTS), Declaration(not_read=NOT_READ)),
    Side(parse_topology(RENAMED), Declaration(not_read=NOT_READ)),
)


def _reason(where: str, field: str, sides: str) -> str:
    undecided = Undecided("rule", "danger", "x", (Undeclared(where, field, sides),), ())
    [found] = with_reasons((undecided,), COMPARED)
    return found.asked[0].reason


def test_a_field_has_the_reason_of_its_side_without_its_advice() -> None:
    """A store has its old name on the old side; a part of a field has the reason, and so has a whole object."""
    key = LAMBDA.partition(";")[0]
    assert _reason("stores.totals", "key", "old, new") == key
    assert _reason("stores.totals", "key", "new") == ""
    assert _reason("stores.totals", "value_serde", "new") == "class Total does not show the version"
    assert _reason("config", "num.stream.threads", "old") == "not a number"
    assert _reason("suppressions.closed", "", "new") == "its class is not known"
    assert _reason("stores.totals", "aggregate", "old, new") == ""


def test_a_plan_names_the_reason() -> None:
    """Next to what to declare."""
    change = read_change(COMPARED.before, COMPARED.before, topology_change_rules(), upgrade_path_rules())
    assert any("of stores.counts" in one and f"({LAMBDA.partition(';')[0]}" in one for one in change.plan.reasons), (
        change.plan.reasons
    )
