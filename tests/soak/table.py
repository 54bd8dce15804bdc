"""The rounds as a table; pure."""

from collections.abc import Iterator, Sequence

from soak.rounds import FOUND_S, INTERVAL_S, READINGS, Round


def markdown(seed: int, rounds: Sequence[Round]) -> str:
    """A summary, and a row for each round."""
    return "\n".join(_lines(seed, rounds)) + "\n"


def _lines(seed: int, rounds: Sequence[Round]) -> Iterator[str]:
    forged = [one.forged for one in rounds if one.forged is not None]
    found = sorted(one.found_s for one in rounds)
    false = sum("FALSE" in fault for one in rounds for fault in one.faults)
    yield "# Drain soak\n"
    yield f"Written by `make soak SEED={seed} COUNT={len(rounds)}`."
    yield f"Each round pauses the traffic at a random moment and drains the application: {READINGS} readings in a row,"
    yield f"{INTERVAL_S} s apart, prove it. A second observer compares all log ends with the committed offsets, then"
    yield "checks that no more output arrives. A forged certificate is made from the last reading with unread"
    yield "records: the judge must detect it. In a round of kind *transaction* a producer leaves a transaction"
    yield "open on an input, with a timeout of 3 s. In a round of kind *restart* an instance restarts under"
    yield "traffic first. The judge cannot detect a forged certificate if its unread records change no output.\n"
    yield "| rounds | false certificates | not found in time | forged ones detected | found after the last move |"
    yield "|---|---|---|---|---|"
    late = sum(one.late or "no certificate" in "".join(one.faults) for one in rounds)
    yield (
        f"| {len(rounds)} | {false} | {late} (limit {FOUND_S:.1f} s) | {sum(forged)} of {len(forged)} | "
        f"median {found[len(found) // 2]:.1f} s, longest {found[-1]:.1f} s |\n"
    )
    yield "| round | seed | kind | traffic | watched | readings | found after | forged | fault |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for number, one in enumerate(rounds, start=1):
        drawn = one.drawn
        first = f"{drawn.watch_first_s:.1f} s before the pause" if drawn.watch_first_s else "from the pause on"
        faults = "; ".join((*one.faults, "late") if one.late else one.faults)
        seen = {None: "", True: "detected", False: "not detected"}[one.forged]
        yield (
            f"| {number} | {drawn.seed} | {drawn.kind} | {drawn.traffic_s:.1f} s | {first} | {one.readings} | "
            f"{one.found_s:.1f} s | {seen} | {faults} |"
        )
