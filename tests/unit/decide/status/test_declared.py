"""A declaration that breaks is a change of status: it is never silence."""

from dataclasses import replace

from kstreams_runbooks.decide.status.declared import FLEET, declaration_statuses
from kstreams_runbooks.decide.status.news import notified, to_notify
from kstreams_runbooks.model.readings.status import KeptStatus

AT = 1_790_000_000_000
HEALTHY = KeptStatus("demo", "orders", "healthy", "lag 0", AT, AT, read=True, told="healthy", told_read=True)
FAULT = "orders.yaml: owner: is missing"
EMPTY = "fleet: config/applications declares no application; declare or discover one"


def test_a_declaration_that_breaks_is_told_once_with_its_cluster_of_before() -> None:
    """As any change; the same fault in the next check is the same status."""
    [broken] = declaration_statuses({"orders": FAULT}, "", [HEALTHY], AT + 1)
    assert (broken.cluster, broken.word, broken.told) == ("demo", "declaration broken", "healthy")
    assert to_notify([broken]) == (broken,)
    [again] = declaration_statuses({"orders": FAULT}, "", [notified(broken)], AT + 2)
    assert to_notify([again]) == ()
    assert (again.since_ms, again.at_ms) == (AT + 1, AT + 2)


def test_one_that_was_never_read_is_told_too() -> None:
    """Its file does not name its cluster."""
    [broken] = declaration_statuses({"orders": FAULT}, "", [], AT)
    assert (broken.cluster, broken.sentence) == ("unknown", FAULT)
    assert to_notify([broken]) == (broken,)


def test_a_fleet_that_is_empty_all_at_once_is_told_and_so_is_its_end() -> None:
    """A folder that is not mounted looks like a fleet without applications."""
    [empty] = declaration_statuses({}, EMPTY, [HEALTHY], AT)
    assert (empty.application, empty.word) == (FLEET, "none declared")
    assert to_notify([empty]) == (empty,)
    [there] = declaration_statuses({}, "", [HEALTHY, notified(empty)], AT + 1)
    assert (there.word, there.told) == ("declared", "none declared")
    assert to_notify([there]) == (there,)
    assert to_notify(declaration_statuses({}, "", [notified(there)], AT + 2)) == ()


def test_settings_of_the_check_that_break_are_told_and_so_is_their_end() -> None:
    """Nothing is judged until then: that must not look like a fleet in which nothing changes."""
    fault = "fleet_check.yaml: samples: must be at least 2; nothing is checked until it is corrected"
    [broken] = declaration_statuses({}, "", [HEALTHY], AT, unchecked=fault)
    assert (broken.application, broken.word, broken.sentence) == (FLEET, "declaration broken", fault)
    assert to_notify([broken]) == (broken,)
    [there] = declaration_statuses({}, "", [HEALTHY, notified(broken)], AT + 1)
    assert (there.word, there.sentence) == ("declared", "the fleet is checked again")
    assert to_notify([there]) == (there,)
    [quiet] = declaration_statuses({}, "", [HEALTHY, notified(there)], AT + 2)
    assert (quiet.sentence, to_notify([quiet])) == (there.sentence, ())


def test_a_new_installation_is_no_news() -> None:
    """Nothing was ever checked; an application that is declared makes no status of the fleet."""
    [empty] = declaration_statuses({}, EMPTY, [], AT)
    assert to_notify([empty]) == ()
    assert declaration_statuses({}, "", [HEALTHY], AT) == ()
    assert to_notify([replace(empty, told=None)]) != ()
