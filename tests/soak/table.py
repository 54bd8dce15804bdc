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
    yield "# Drained at moments that nobody chose\n"
    yield f"Written by `make soak SEED={seed} COUNT={len(rounds)}`."
    yield f"Traffic runs, is paused, and the application drains: {READINGS} readings in a row, {INTERVAL_S} s apart,"
    yield "prove it. A second observer looks at all ends and committed offsets; after that it looks whether"
    yield "an output still comes. A forged certificate is made from the last reading that had a record left: the judge"
    yield "has to see through it. In a round of kind *transaction* a producer leaves one open on an input, with a"
    yield "timeout of 3 s, in one of kind *restart* an instance is restarted under traffic first. A forged one is not"
    yield "seen through where what was left changed no output.\n"
    yield "| rounds | false certificates | not found in time | forged ones seen through | found after the last move |"
    yield "|---|---|---|---|---|"
    late = sum(bool(one.faults) for one in rounds) - false
    yield (
        f"| {len(rounds)} | {false} | {late} (limit {FOUND_S:.1f} s) | {sum(forged)} of {len(forged)} | "
        f"median {found[len(found) // 2]:.1f} s, longest {found[-1]:.1f} s |\n"
    )
    yield "| round | seed | kind | traffic | watched | readings | found after | forged | fault |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for number, one in enumerate(rounds, start=1):
        drawn = one.drawn
        first = f"{drawn.watch_first_s:.1f} s before the pause" if drawn.watch_first_s else "from the pause on"
        seen = {None: "", True: "seen through", False: "not seen"}[one.forged]
        yield (
            f"| {number} | {drawn.seed} | {drawn.kind} | {drawn.traffic_s:.1f} s | {first} | {one.readings} | "
            f"{one.found_s:.1f} s | {seen} | {'; '.join(one.faults)} |"
        )
