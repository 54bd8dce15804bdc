"""Descriptions of one small application in several versions, for tests of the duties of a change between them."""

from kstreams_runbooks.decide.change.described import Known
from kstreams_runbooks.model.topology.declaration import (
    OTHER_CODE,
    Declaration,
    DeclaredStore,
    DeclaredTopic,
    Described,
    Serde,
)

from world.samples import NEW, OLD, declared

COUNTS = """Topologies:
   Sub-topology: 0
    Source: in (topics: [orders])
      --> by-customer
    Processor: by-customer (stores: [])
      --> by-customer-sink
      <-- in
    Sink: by-customer-sink (topic: by-customer-repartition)
      <-- by-customer

  Sub-topology: 1
    Source: by-customer-source (topics: [by-customer-repartition])
      --> count
    Processor: count (stores: [counts])
      --> out
      <-- by-customer-source
    Sink: out (topic: counted)
      <-- count
"""
RENAMED = COUNTS.replace("[counts]", "[totals]")
# The counted records go to another repartition topic, read by a separate subtopology.
AUDITED = (
    COUNTS.replace("--> by-customer\n", "--> audit-sink, by-customer\n").replace(
        "    Sink: by-customer-sink",
        "    Sink: audit-sink (topic: audit-repartition)\n      <-- in\n    Sink: by-customer-sink",
    )
    + """
  Sub-topology: 2
    Source: audit-source (topics: [audit-repartition])
      --> none
"""
)
OTHER = (
    COUNTS.replace("orders", "trades")
    .replace("counted", "priced")
    .replace("counts", "prices")
    .replace("by-customer", "by-stock")
)

_TEXT, _LONG = Serde("string"), Serde("long")


def declaration(store: str = "counts", *topics: str, **changes: object) -> Declaration:
    """What both versions declare, the rest of their code compared; `topics` are additional internal topics."""
    keyed = DeclaredTopic(key="customer", key_serde=_TEXT, value_serde=_TEXT)
    return Declaration(
        **{
            "stores": {
                store: DeclaredStore(
                    kind="key_value",
                    key="customer",
                    key_serde=_TEXT,
                    value_serde=_LONG,
                    aggregate="count",
                    logging=True,
                )
            },
            "topics": dict.fromkeys(("orders", "counted", "by-customer-repartition", *topics), keyed),
            "config": {},
            "unchanged": frozenset((OTHER_CODE,)),
            **changes,
        }  # type: ignore[arg-type]
    )


def described(text: str = COUNTS, release: str = OLD, declares: Declaration | None = None) -> Described:
    """One version, by default the running one without a declaration."""
    return Described(
        release, declared().library(release) if release else "", f"{release or 'topology_text'}", text, declares
    )


def known(**partitions: int) -> Known:
    """The fleet entry, a broker of 4.3, and partitions with `_` for `-`."""
    return Known(declared(), {name.replace("_", "-"): count for name, count in partitions.items()}, "4.3")


BEFORE = described(declares=declaration())
AFTER = described(release=NEW, declares=declaration())
