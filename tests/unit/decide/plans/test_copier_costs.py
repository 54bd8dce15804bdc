"""What a copier costs: every figure is known or named as not known, and is never 0 instead."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.plans.copier_costs import CopierLoad, copier_findings, proof_findings
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.verdicts import Finding

ORDERS = CopierLoad("orders-sent", "orders", 4_000_000_000, 3, 1_500_000, 40_000_000)
CUSTOMERS = CopierLoad("customers-sent", "customers", 500_000, 3, 20_000, 5_000)


def findings(*loads: CopierLoad, login: str = "User:passing", whole: bool = True) -> dict[str, Finding]:
    """By id."""
    return {one.id: one for one in copier_findings("passing", login, loads or (ORDERS, CUSTOMERS), whole=whole)}


def test_costs_add_up_over_routes_and_replicas() -> None:
    """Disk is that of every replica; traffic is that of the records once."""
    found = findings()["copier-costs"]
    assert found.severity == "info"
    assert "the copy takes 12,001.5 MB on the brokers at once" in found.message
    assert "1.5 MB a second are read once more and written once more to every replica" in found.message
    assert "not known" not in found.message


def test_a_copy_without_history_takes_no_disk_at_once() -> None:
    """What is not read for it is no lack."""
    unread = replace(ORDERS, held_bytes=Missing("log directories are not visible"))
    found = findings(unread, whole=False)["copier-costs"]
    assert found.severity == "info"
    assert "disk: the copy grows with its sources" in found.message


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"held_bytes": Missing("log directories")}, "disk of orders: log directories"),
        ({"replicas": Missing("no metadata")}, "disk of orders: no metadata"),
        ({"bytes_per_s": Missing("one reading alone")}, "traffic of orders-sent: one reading alone"),
    ],
)
def test_a_figure_that_is_not_known_is_named(changes: dict[str, Missing], named: str) -> None:
    """The other route still counts, as a part."""
    found = findings(replace(ORDERS, **changes), CUSTOMERS)["copier-costs"]  # type: ignore[arg-type]
    assert found.severity == "warning"
    assert f"not known, and on top of it: {named}" in found.message


def test_subjects_and_quotas_are_named_although_they_are_not_read() -> None:
    """With the names to look for."""
    found = findings()
    assert "orders-key and orders-value, customers-key and customers-value" in found["copier-subjects"].message
    assert "of user passing and of client ids that begin with passing-" in found["copier-quotas"].message
    assert "(it needs 1.5 MB a second of both rates" in found["copier-quotas"].message
    unknown = replace(ORDERS, bytes_per_s=Missing("x"))
    assert "(it needs at least 0.0 MB a second" in findings(unknown, login="")["copier-quotas"].message
    assert "the user of its login" in findings(login="")["copier-quotas"].message


def test_the_proof_names_what_it_reads_of_both_topics_and_how_long() -> None:
    """Twice the inputs, by the rates that were measured: no limit is named, since it has none."""
    [found] = proof_findings("passing", (ORDERS, CUSTOMERS), whole=True)
    assert (found.id, found.severity) == ("copy-proof-costs", "info")
    assert "80,010,000 offsets of the inputs and their copies, 8,001.0 MB" in found.message
    assert "about 148 to 211 s on two cores" in found.message
    assert found.message.endswith("without_copy_proof leaves it out")


def test_the_proof_of_empty_inputs_takes_a_second() -> None:
    """It is never 0."""
    [found] = proof_findings("passing", (replace(ORDERS, offsets=0, held_bytes=0),), whole=True)
    assert "0 offsets of the inputs and their copies, 0.0 MB" in found.message
    assert "about 1 to 1 s" in found.message


def test_the_proof_without_known_sizes_or_without_history() -> None:
    """What is not known is named; without history no figure is."""
    unread = replace(ORDERS, held_bytes=Missing("log directories"))
    [found] = proof_findings("passing", (unread, CUSTOMERS), whole=True)
    assert "bytes are not known (log directories)" in found.message
    [late] = proof_findings("passing", (ORDERS,), whole=False)
    assert "prove_copy reads each record from the committed offsets on and its copy, up to the change" in late.message
