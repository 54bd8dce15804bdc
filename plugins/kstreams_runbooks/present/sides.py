"""Whether two sides of an application agree in their outputs, as JSON, as text and as an exit code."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from kstreams_runbooks.decide.outputs.sides import words
from kstreams_runbooks.errors import Inconclusive, Refused
from kstreams_runbooks.model.readings.sides import ComparedSides
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.present.outputs import example_lines, read_line
from kstreams_runbooks.wording import sentence

SCHEMA_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class JudgedSides:
    """One output of both sides with its verdict."""

    compared: ComparedSides
    verdict: Verdict


def exit_code(judged: Sequence[JudgedSides]) -> int:
    """0 no output that has to be equal differs, 1 one does or is declared wrongly, 3 that is not proven of one."""
    outcomes = {one.verdict.outcome for one in judged}
    if Outcome.REFUSE in outcomes:
        return Refused.exit_code
    return Inconclusive.exit_code if Outcome.INCONCLUSIVE in outcomes else 0


def document(blue: str, green: str, judged: Sequence[JudgedSides]) -> dict[str, Any]:
    """Every pair of outputs with its class, its verdict and its comparison (null if it was not made)."""
    return {"schema_version": SCHEMA_VERSION, "blue": blue, "green": green, "outputs": [_output(one) for one in judged]}


def _output(one: JudgedSides) -> dict[str, Any]:
    reading = one.compared.reading
    return {
        "verdict": one.verdict.outcome.value,
        "reasons": list(one.verdict.reasons),
        "findings": [asdict(each) for each in one.verdict.findings],
        "output": asdict(one.compared.output),
        "noted_at_ms": one.compared.noted_at_ms,
        "taken_at_ms": reading.taken.at_ms,
        "read_at_ms": one.compared.read_at_ms,
        "mode": reading.mode,
        "ignored": list(reading.ignored),
        "ignored_paths": list(reading.ignored_paths),
        "limits": asdict(reading.limits),
        "bytes_on_disk": reading.bytes,
        "first": asdict(reading.first),
        "second": asdict(reading.second),
        "comparison": None if reading.comparison is None else asdict(reading.comparison),
    }


def as_text(blue: str, green: str, judged: Sequence[JudgedSides]) -> str:
    """Each pair with its verdict, its reasons, what was read, and its examples."""
    return "\n".join(sentence(line) for one in judged for line in _lines(blue, green, one))


def _lines(blue: str, green: str, one: JudgedSides) -> Iterator[str]:
    reading, output = one.compared.reading, one.compared.output
    kind = "class not known" if output.kind is None else words(output.kind)
    yield f"[{blue} {reading.first.name} ↔ {green} {reading.second.name}] {_word(one)} ({kind}, {reading.mode})"
    yield from (f"  {reason}" for reason in one.verdict.reasons)
    if reading.comparison is not None:
        yield f"  {read_line(reading, reading.comparison)}"
        yield from example_lines(reading, reading.comparison)


def _word(one: JudgedSides) -> str:
    if one.verdict.outcome is Outcome.PROCEED:
        return "EQUAL" if one.compared.output.gates else "NOT PROMISED"
    return "DIFFERENT" if one.verdict.outcome is Outcome.REFUSE else one.verdict.outcome.upper()
