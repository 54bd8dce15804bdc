"""What the demo prints fits the terminal, and shows names and logs as they are."""

import io
from typing import Any

import pytest
from lab.airflow import still_starting
from lab.display import Display, _steps_table, show
from lab.supervise import Waiting
from rich.console import Console

WIDTHS = (80, 100, 120)
VERDICT = (
    "gate of orders-1: not yet: [orders-1] state is REBALANCING [/expected] RUNNING; "
    "lag 12,345 [link=x] of at most 1,000, and 3 more readings"
)
STEPS: dict[str, dict[str, Any]] = {
    name: {"state": state, "start_date": "2026-11-20T10:00:00+00:00", "end_date": "2026-11-20T10:03:21+00:00"}
    for name, state in (
        ("observe", "success"),
        ("approve_bounce_2", "awaiting_input"),
        ("wait_caught_up", "deferred"),
        ("bounce_1_first", "failed"),
        ("bounce_1_rest", "upstream_failed"),
    )
}


def output(topic: str, verdict: str, **faults: int) -> dict[str, Any]:
    counts = {"inputs_seen": 123_456, "expected": 123_456, "seen": 123_400}
    none = dict.fromkeys(("missing", "extra", "duplicate", "out_of_order"), 0)
    return {"topic": topic, "verdict": verdict} | counts | none | faults


def result(**changed: Any) -> dict[str, Any]:
    times = {"stopped_at_ms": 1_000, "gate_passed_at_ms": 9_400}
    return {
        "run": {"dag_id": "library_bump", "state": "success", "outcome": "completed", "sentence": "all run 4.3.1"},
        "bounces": 1,
        "gaps": [{"bounce": 1, "instance": "orders-1", "seconds": 4.2}],
        "per_bounce": [{"number": 1, "instances": {"orders-1": times}, "records_per_second_min": 291}],
        "instances": {"orders-1": {"starts": [{"version": "4.3.1", "upgrade_from": "3.4"}]}},
        "internal_topics": [],
        "downstream": None,
        "held_seconds": None,
        "silence_seconds": 1.5,
        "inputs_seen": 123_456,
        "verdict": "ok",
        **dict.fromkeys(("missing", "extra", "duplicate"), 0),
        "judge": {
            "outputs": [
                output("orders-running", "ok"),
                output("customers-counted", "inconclusive", missing=56, extra=1, duplicate=2, out_of_order=3),
                output("orders-[/red]-windowed", "wrong", missing=1),
            ]
        },
    } | changed


def printed(width: int, *things: Any) -> list[str]:
    console = Console(width=width, record=True, file=io.StringIO(), force_terminal=True)
    for thing in things:
        console.print(thing)
    return console.export_text().splitlines()


@pytest.mark.parametrize("width", WIDTHS)
def test_the_steps_fit_and_brackets_are_text(width: int) -> None:
    """Names, states and seconds stay whole; only the verdict gives way, in full for a step that is open."""
    lines = printed(width, _steps_table(STEPS, dict.fromkeys(STEPS, VERDICT)))
    assert max(map(len, lines)) <= width
    text = "\n".join(lines)
    for whole in (*STEPS, "waits at its gate", "not reached", "201"):
        assert whole in text
    verdict = " ".join(line[len("approve_bounce_2  waits at its gate  201  ") :] for line in lines)
    assert "".join(VERDICT.split()) in "".join(verdict.split())
    assert next(line for line in lines if line.startswith("observe")).rstrip().endswith("…")


@pytest.mark.parametrize("width", WIDTHS)
def test_the_result_fits(width: int) -> None:
    """Every topic, figure and fault can be read."""
    console = Console(width=width, record=True, file=io.StringIO(), force_terminal=True)
    show(result(), console)
    lines = console.export_text().splitlines()
    assert max(map(len, lines)) <= width
    text = "\n".join(lines)
    for whole in (
        "orders-running",
        "customers-counted",
        "orders-[/red]-windowed",
        "123,456",
        "56 missing",
        "1 extra",
        "2 duplicate",
        "3 out of order",
        "4.2 s",
    ):
        assert whole in text
    assert "verdict: ok" in " ".join(text.split())


@pytest.mark.parametrize("width", WIDTHS)
def test_the_ids_of_internal_topics_fit(width: int) -> None:
    """Before and after, and whether they are as expected."""
    row = {"name": "orders-running-changelog", "id_before": "FQ6gh0vHQY2q3CYSb5ZRNA", "id_after": None}
    found = {"application_id": "orders", "expected": "new ids", "ok": False, "topics": [row]}
    console = Console(width=width, record=True, file=io.StringIO(), force_terminal=True)
    show(result(internal_topics=[found]), console)
    lines = console.export_text().splitlines()
    assert max(map(len, lines)) <= width
    text = " ".join(" ".join(lines).split())
    for whole in ("Internal topics of orders (expected: new ids; NOT as expected)", "FQ6gh0vHQY2q3CYSb5ZRNA", "absent"):
        assert whole in text


def test_what_a_group_downstream_has_read_is_shown() -> None:
    """With the topics, missing and doubled."""
    read = {"group": "billing", "topics": ["totals", "totals-v2"], "sent": 2_000, "read": 1_999}
    console = Console(width=200, record=True, file=io.StringIO(), force_terminal=True)
    show(result(downstream={**read, "missing": 1, "doubled": 0}), console)
    said = console.export_text()
    assert "billing read 1,999 of 2,000 results from totals, totals-v2: 1 missing, 0 doubled" in said


@pytest.mark.parametrize("width", WIDTHS)
def test_a_failed_run_prints_its_outcome(width: int) -> None:
    """Its colour alone explains nothing."""
    run = {"dag_id": "library_bump", "state": "failed", "outcome": "stopped, changed", "sentence": "[orders-1] is DOWN"}
    console = Console(width=width, record=True, file=io.StringIO(), force_terminal=True)
    show(result(run=run), console)
    assert "STOPPED, CHANGED: [orders-1] is DOWN" in console.export_text()
    assert "STOPPED" not in "".join(printed(width, ""))


def test_the_wait_for_airflow_is_counted() -> None:
    """A line every five seconds, with what is late and its address at the end."""
    now, said = [100.0], list[str]()
    waiting = Waiting(300, said.append, lambda: now[0])
    health: dict[str, str] = {}
    for second in range(12):
        now[0] = 100.0 + second
        if second == 9:
            health.update(metadatabase="healthy", scheduler="None", dag_processor="unhealthy")
        waiting.count(lambda: still_starting("http://127.0.0.1:1", health))
    assert said == [
        "5 of 300 s: Airflow's API does not answer yet: http://127.0.0.1:1",
        "10 of 300 s: Airflow starts (scheduler None, dag processor unhealthy): http://127.0.0.1:1",
    ]


def test_a_line_on_a_pipe_is_whole(capsys: pytest.CaptureFixture[str]) -> None:
    """The outcome of a run is longer than a line of progress may be."""
    Display().say("x" * 400)
    assert "x" * 400 in capsys.readouterr().err
