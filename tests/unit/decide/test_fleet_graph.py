"""The fleet as a graph, from declarations alone."""

import pytest
from kstreams_runbooks.decide.fleet_graph import downstream, fleet_graph, outputs_of, require_own_outputs, writers_of
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.fleet_graph import DownstreamEntry, FleetGraph, GraphEdge
from kstreams_runbooks.present.fleet_graph import graph_document, graph_mermaid
from world.samples import declared


def fleet() -> FleetGraph:
    """A copier in front of `orders`, and `billing` and `reports` behind it, one after the other."""
    return fleet_graph(
        [
            declared(inputs=("orders", "customers"), control=("orders",), rule_topics=("rules",), outputs=("results",)),
            declared(name="passing", inputs=("sent",), outputs=("orders",), copies=True),
            declared(name="billing", inputs=("results",), outputs=("bills", "results-kept")),
            declared(name="reports", inputs=("bills", "results"), outputs=("orders-report",)),
            declared(name="archive", inputs=("orders-report",)),
            declared(name="elsewhere", cluster="other", inputs=("results",), outputs=("results",)),
        ]
    )


def test_each_declared_topic_is_one_edge() -> None:
    """A control topic is one of the inputs and has its own use."""
    edges = [one for one in fleet().edges if one.entry == "orders"]
    assert edges == [
        GraphEdge("orders", "demo", "orders", "control"),
        GraphEdge("orders", "demo", "rules", "rule"),
        GraphEdge("orders", "demo", "customers", "input"),
        GraphEdge("orders", "demo", "results", "output"),
    ]


def test_what_follows_an_application_in_its_cluster() -> None:
    """The nearest path to each; another cluster's topic of the same name connects nothing."""
    assert downstream(fleet(), "orders") == (
        DownstreamEntry("billing", ("results",), "orders", 1),
        DownstreamEntry("reports", ("results",), "orders", 1),
        DownstreamEntry("archive", ("orders-report",), "reports", 2),
    )
    assert [one.entry for one in downstream(fleet(), "passing")] == ["orders", "billing", "reports", "archive"]
    assert downstream(fleet(), "archive") == ()


def test_outputs_of_a_topology_count_too() -> None:
    """A release may write more than its entry declares."""
    assert [one.entry for one in downstream(fleet(), "archive", {"sent"})] == [
        "passing",
        "orders",
        "billing",
        "reports",
    ]


def test_a_circle_ends() -> None:
    """An application whose results come back is not downstream of itself."""
    circle = fleet_graph(
        [declared(inputs=("a",), outputs=("b",)), declared(name="back", inputs=("b",), outputs=("a",))]
    )
    assert downstream(circle, "orders") == (DownstreamEntry("back", ("b",), "orders", 1),)


def test_an_output_that_another_entry_writes_is_not_emptied() -> None:
    """Its records are not those of this application alone."""
    both = fleet_graph([declared(outputs=("results", "own")), declared(name="billing", outputs=("results",))])
    known = outputs_of(both, "orders")
    require_own_outputs(both, "orders", ["own"], known)
    assert writers_of(both, "demo", "results") == ("billing", "orders")
    with pytest.raises(BadInput, match=r"output results: is written by billing too \(expected: by orders alone\)"):
        require_own_outputs(both, "orders", ["results"], known)
    with pytest.raises(BadInput, match=r"output other: is not an output of orders \(its outputs: own, results\)"):
        require_own_outputs(both, "orders", ["other"], known)


def test_the_graph_as_mermaid_and_json() -> None:
    """Topics belong to a cluster; a rule topic has a dotted arrow, a copier another shape."""
    lines = [line.strip() for line in graph_mermaid(fleet()).splitlines()]
    assert lines[0] == "flowchart LR"
    assert 'e4[/"passing"/]' in lines
    assert sum(line.endswith('>"results"]') for line in lines) == 2
    assert len([line for line in lines if "-.->" in line]) == 1
    assert 'subgraph c0["cluster demo"]' in lines
    hostile = fleet_graph([declared(name='x"]; click', inputs=("<b>",))])
    assert '"]; click' not in graph_mermaid(hostile)
    assert "<b>" not in graph_mermaid(hostile)
    document = graph_document(fleet())
    [orders] = [one for one in document["entries"] if one["name"] == "orders"]
    assert [one["entry"] for one in orders["downstream"]] == ["billing", "reports", "archive"]
    assert {"entry": "passing", "cluster": "demo", "topic": "orders", "use": "output"} in document["edges"]
