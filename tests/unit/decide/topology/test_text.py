"""The text of a topology description, good and bad."""

import json
import random
from pathlib import Path

import pytest
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.topology.topology import Processor, Sink, Source

SAMPLES = Path(__file__).parents[2] / "observe" / "samples"


def running(release: str = "4.3.1") -> str:
    """What a running application says of itself."""
    [client] = json.loads((SAMPLES / f"jolokia_{release}.json").read_text())[0]["value"].values()
    return str(client["topology-description"])


LINES = [line for line in running().splitlines() if line.strip()]


def test_a_running_application_is_read_whole() -> None:
    """Every node, store and topic that the text names."""
    topology = parse_topology(running())
    named = [line.split()[1] for line in LINES if line.lstrip().startswith(("Source:", "Processor:", "Sink:"))]
    assert sorted(node.name for _, node in topology.nodes()) == sorted(named)
    assert {topic for sub in topology.subtopologies for source in sub.sources for topic in source.topics} >= {
        "orders",
        "customers",
        "per-customer-repartition",
    }
    found = topology.subtopology_of("per-customer-count")
    assert found
    assert "per-customer-repartition" in {topic for source in found.sources for topic in source.topics}
    assert topology.stores >= {"orders-table", "customers-table", "running-count"}


def test_both_releases_print_the_same() -> None:
    """The text of one application under 3.4.1 and 4.3.1."""
    assert parse_topology(running("3.4.1")) == parse_topology(running("4.3.1"))


@pytest.mark.parametrize("seed", range(5))
def test_order_and_spaces_never_matter(seed: int) -> None:
    """Nodes within a subtopology, and subtopologies, in any order; pages that quote a text have lost its spaces."""
    blocks: list[list[list[str]]] = []
    for line in map(str.strip, LINES[1:]):
        if line.startswith("Sub-topology"):
            blocks.append([[line]])
        elif line.startswith(("-->", "<--")):
            blocks[-1][-1].append(line)
        else:
            blocks[-1].append([line])
    chance = random.Random(seed)
    shuffled = [[head, *chance.sample(nodes, len(nodes))] for head, *nodes in chance.sample(blocks, len(blocks))]
    text = "\n".join(["Topologies:", *(line for block in shuffled for node in block for line in node)])
    assert parse_topology(text) == parse_topology(running())


def test_every_kind_of_node() -> None:
    """A pattern is printed bare, a dynamic sink by its class, a global store has no tasks, a topology has a name."""
    topology = parse_topology(
        """Topology: billing:
           Sub-topology: 0 for global store (will not generate tasks)
            Source: rates-source (topics: [rates])
              --> rates-update
            Processor: rates-update (stores: [rates])
              --> none
              <-- rates-source

           Sub-topology: 1
            Source: audits (topics: audit\\.(in|out), .*)
              --> route
            Sink: route (extractor class: example.Route@1f)
              <-- audits
        """
    )
    rates, audits = topology.subtopologies
    assert (rates.id, rates.is_global, rates.stores) == ("billing__0", True, frozenset({"rates"}))
    assert audits.nodes == (
        Source("audits", frozenset(), "audit\\.(in|out), .*", frozenset({"route"})),
        Sink("route", None, "example.Route"),
    )
    assert rates.nodes[1] == Processor("rates-update", frozenset({"rates"}), frozenset())


def test_what_is_another_one_in_each_run_is_left_out() -> None:
    """The address of an object and the class of a lambda say nothing of the program."""
    text = "Topologies:\nSub-topology: 0\nSource: a (topics: [t])\n--> b\nSink: b (extractor class: {})\n<-- a"
    for one, other in (
        ("example.Route@1f", "example.Route@2e3d"),
        ("a.B$$Lambda$14/0x00007f1c@4b1210ee", "a.B$$Lambda/0x000078d4a4003c00@77459d9e"),
    ):
        assert parse_topology(text.format(one)) == parse_topology(text.format(other))
    assert parse_topology(text.format("example.Route@1f")) != parse_topology(text.format("example.Other@1f"))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "topology description: no sub-topology in it (expected `Sub-topology: 0`)"),
        ("Topologies:\n", "no sub-topology in it"),
        ("\x00\x01", "topology description: has NUL bytes"),
        ("hello", "line 1: 'hello' (expected `Topologies:`); give the text of Topology#describe"),
        ("Sub-topology: 0", "line 1: 'Sub-topology: 0' (expected `Topologies:` before it)"),
        ("Topologies:\nSub-topology: 0", "line 2: sub-topology 0 has no node; the text is cut off"),
        ("Topologies:\nSub-topology: 0\n--> x", "line 3: '--> x' (expected `Source:`, `Processor:` or `Sink:`)"),
        (
            "Topologies:\nSub-topology: 0\nSource: a (topics: [t])\nSink: b (topic: u)\n<-- a",
            "line 3: no `-->` of a follows; the text is cut off",
        ),
        (
            "Topologies:\nSub-topology: 0\nSource: a (topics: [t])\n--> b",
            "line 3: a --> b, which is no node of sub-topology 0; the text is cut off or mixed with another",
        ),
        (
            "Topologies:\nSub-topology: 0\nSource: a (topics: [t])\n--> b\nProcessor: b (stores: [])\n--> none",
            "line 5: no `<--` of b follows; the text is cut off",
        ),
        (
            "Topologies:\nSub-topology: 0\nSource: a (topics: [t])\n--> none\nSink: b (topic: u)\n<-- a",
            "line 3: a lacks --> b (line 5 has <-- a)",
        ),
        (
            "Topologies:\nSub-topology: 0\nSource: a (topics: [t])\n--> none\nSource: a (topics: [t])\n--> none",
            "line 5: node a stands in line 3 already (expected each name once)",
        ),
    ],
)
def test_bad_text_is_one_sentence_with_its_line(text: str, sentence: str) -> None:
    """The place, and what was expected there."""
    with pytest.raises(BadInput) as raised:
        parse_topology(text)
    assert sentence in str(raised.value)


def test_one_subtopology_twice_is_two_descriptions() -> None:
    """Two texts pasted into one."""
    with pytest.raises(BadInput, match=r"sub-topology 0 stands in line 2 already \(expected each once\)"):
        parse_topology(running() + "\n" + running())


@pytest.mark.parametrize("kept", range(1, len(LINES)))
def test_a_text_that_was_cut_off_is_found_out(kept: int) -> None:
    """Wherever it ends: unless that is the end of a subtopology, and nothing written before it is read behind it."""
    text = "\n".join(LINES[:kept])
    between = LINES[kept].lstrip().startswith("Sub-topology") and kept > 1
    if between and "by-customer-repartition-sink" not in text:
        assert len(parse_topology(text).subtopologies) < len(parse_topology(running()).subtopologies)
    else:
        with pytest.raises(BadInput):
            parse_topology(text)


def test_a_name_may_hold_a_comma() -> None:
    """The Processor API takes any name; which names there are tells where one ends."""
    topology = parse_topology(
        """Topologies:
           Sub-topology: 0
            Source: in (topics: [orders])
              --> clean, sort, count
            Processor: clean, sort (stores: [])
              --> out
              <-- in
            Processor: count (stores: [counts])
              --> out
              <-- in
            Sink: out (topic: counted)
              <-- clean, sort, count
        """
    )
    (sub,) = topology.subtopologies
    (source,) = sub.sources
    assert source.successors == {"clean, sort", "count"}


def test_names_with_commas_that_may_be_others_are_told_by_the_arrows_back() -> None:
    """`a, b` is one node, or two: who leads back decides."""
    text = """Topologies:
       Sub-topology: 0
        Source: in (topics: [orders])
          --> a, b
        Source: other (topics: [more])
          --> a, b
        Processor: a (stores: [])
          --> none
          <-- {a}
        Processor: b (stores: [])
          --> none
          <-- {b}
        Processor: a, b (stores: [])
          --> none
          <-- {both}
    """
    topology = parse_topology(text.format(a="other", b="other", both="in"))
    assert {source.name: source.successors for source in topology.subtopologies[0].sources} == {
        "in": {"a, b"},
        "other": {"a", "b"},
    }
    with pytest.raises(BadInput, match="line 3: --> 'a, b' of in can be read in 2 ways"):
        parse_topology(text.format(a="in, other", b="in, other", both="in, other"))
