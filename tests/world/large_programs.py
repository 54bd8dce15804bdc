"""Programs of 3,000 operators, as Kafka Streams describes them and as their owners declare them.

Each shape has a variant with generated names and one with chosen names. `longer` puts a filter in front of the first
operator: the number in every generated name behind it is one higher then.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

OPERATORS = 3_000
_PARTITIONS = 8


@dataclass(slots=True)
class _Operator:
    """One operator, with what the brackets behind its name hold."""

    head: str
    subtopology: int
    after: list[str] = field(default_factory=list)
    before: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Program:
    """Operators in the order in which a program adds them."""

    generated: bool
    operators: dict[str, _Operator] = field(default_factory=dict)
    stores: list[str] = field(default_factory=list)
    topics: list[str] = field(default_factory=list)
    _number: int = 0

    def name(self, kind: str, chosen: str) -> str:
        """The next generated name, or the chosen one."""
        self._number += 1
        return f"{kind}-{self._number - 1:010}" if self.generated else chosen

    def source(self, subtopology: int, chosen: str, topic: str) -> str:
        """An operator that reads a topic."""
        self.topics.append(topic)
        return self._add("Source", self.name("KSTREAM-SOURCE", chosen), f"(topics: [{topic}])", subtopology, "")

    def step(self, before: str, kind: str, chosen: str) -> str:
        """An operator without a store."""
        name = self.name(kind, chosen)
        return self._add("Processor", name, "(stores: [])", self.operators[before].subtopology, before)

    def aggregate(self, before: str, chosen: str) -> str:
        """An operator with a store."""
        store = self.name("KSTREAM-AGGREGATE-STATE-STORE", f"{chosen}-store")
        self.stores.append(store)
        name = self.name("KSTREAM-AGGREGATE", chosen)
        return self._add("Processor", name, f"(stores: [{store}])", self.operators[before].subtopology, before)

    def sink(self, before: str, chosen: str, topic: str) -> str:
        """An operator that writes a topic."""
        self.topics.append(topic)
        name = self.name("KSTREAM-SINK", chosen)
        return self._add("Sink", name, f"(topic: {topic})", self.operators[before].subtopology, before)

    def _add(self, what: str, name: str, brackets: str, subtopology: int, before: str) -> str:
        self.operators[name] = made = _Operator(f"{what}: {name} {brackets}", subtopology)
        if before:
            made.before.append(before)
            self.operators[before].after.append(name)
        return name

    def described(self) -> str:
        """The text of `Topology#describe`."""
        parts: dict[int, list[str]] = {}
        for operator in self.operators.values():
            lines = parts.setdefault(operator.subtopology, [f"   Sub-topology: {operator.subtopology}"])
            lines.append(f"    {operator.head}")
            if not operator.head.startswith("Sink"):
                lines.append(f"      --> {', '.join(operator.after) or 'none'}")
            if operator.before:
                lines.append(f"      <-- {', '.join(operator.before)}")
        return "\n".join(["Topologies:", *(line for number in sorted(parts) for line in parts[number]), ""])

    def declared(self) -> str:
        """A declaration of every store and topic: YAML."""
        lines = [
            "config:",
            "  application.id: large",
            "default_key_serde: {name: string}",
            "default_value_serde: {name: json, schema_version: 1}",
            "stores:",
        ]
        for store in self.stores:
            window = "{kind: tumbling, size_ms: 3600000, grace_ms: 60000}"
            lines += [f"  {store}:", "    kind: window", "    key: the customer", f"    window: {window}"]
        lines.append("topics:")
        for topic in dict.fromkeys(self.topics):
            lines += [f"  {topic}:", f"    partitions: {_PARTITIONS}", "    key: the customer"]
        return "\n".join([*lines, ""])


def _begun(program: Program, subtopology: int, number: int, *, longer: bool) -> str:
    """A source, in the longer program with a filter behind it."""
    made = program.source(subtopology, f"read-{number}", f"input-{number}")
    return program.step(made, "KSTREAM-FILTER", "only-valid") if longer else made


def _chain(program: Program, *, longer: bool) -> None:
    """One operator after another, every sixth with a store."""
    last = _begun(program, 0, 0, longer=longer)
    for number in range(OPERATORS - 2):
        if number % 6 == 0:
            last = program.aggregate(last, f"count-{number}")
        else:
            last = program.step(last, "KSTREAM-MAPVALUES", f"map-{number}")
    program.sink(last, "write", "output")


def _many_subtopologies(program: Program, *, longer: bool) -> None:
    """Three hundred times ten operators with a store; each reads and writes topics of its own."""
    for number in range(OPERATORS // 10):
        last = _begun(program, number, number, longer=longer and number == 0)
        for step in range(7):
            last = program.step(last, "KSTREAM-MAPVALUES", f"map-{number}-{step}")
        last = program.aggregate(last, f"count-{number}")
        program.sink(last, f"write-{number}", f"output-{number}")


def _wide(program: Program, *, longer: bool) -> None:
    """One source with a thousand branches: filter, store, sink."""
    first = _begun(program, 0, 0, longer=longer)
    for number in range(OPERATORS // 3):
        kept = program.step(first, "KSTREAM-FILTER", f"branch-{number}")
        program.sink(program.aggregate(kept, f"count-{number}"), f"write-{number}", f"output-{number}")


def _repartitioned(program: Program, *, longer: bool) -> None:
    """Five hundred groupings by another key, each with a repartition topic and a store."""
    first = _begun(program, 0, 0, longer=longer)
    for number in range(OPERATORS // 6):
        key = program.step(first, "KSTREAM-KEY-SELECT", f"key-{number}")
        kept = program.step(key, "KSTREAM-FILTER", f"by-{number}-repartition-filter")
        topic = f"{program.name('KSTREAM-AGGREGATE-STATE-STORE', f'by-{number}')}-repartition"
        program.sink(kept, f"by-{number}-repartition-sink", topic)
        read = program.source(number + 1, f"by-{number}-repartition-source", topic)
        program.sink(program.aggregate(read, f"count-{number}"), f"write-{number}", f"output-{number}")


SHAPES: Mapping[str, Callable[..., None]] = {
    "a chain, 500 stores": _chain,
    "300 subtopologies, 300 stores": _many_subtopologies,
    "1,000 branches, 1,000 stores": _wide,
    "500 repartition topics, 500 stores": _repartitioned,
}


def large_program(shape: str, *, generated: bool, longer: bool) -> Program:
    """The program of one of `SHAPES`."""
    program = Program(generated)
    SHAPES[shape](program, longer=longer)
    return program


def large_pair(shape: str, *, generated: bool) -> Sequence[Program]:
    """A program, and the same with a filter in front."""
    return [large_program(shape, generated=generated, longer=longer) for longer in (False, True)]
