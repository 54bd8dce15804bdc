"""Inputs that a run holds: expected while it works, an alarm once it has ended or outlasts its forecast."""

from dataclasses import replace

from kstreams_runbooks.decide.status.held_inputs import held_status
from kstreams_runbooks.model.readings.hold import HoldForecast, HoldLimit, HoldPart
from kstreams_runbooks.model.runs.held_inputs import HeldInputs

HELD = HeldInputs("flush/r", "demo", "orders", ("in-1", "in-2"), "swap", 0)
FORECAST = HoldForecast(
    (HoldPart("stop", 1, 100, ""),),
    (HoldLimit("retention.ms of in-1 leaves its waiting records", 7_200, 3_600),),
)
BEGIN = "inputs in-1, in-2 of orders are held (swap) since 1970-01-01 00:00 UTC, "


def test_a_run_at_work_is_expected_until_its_forecast_is_over() -> None:
    """To the second."""
    found = held_status(HELD, FORECAST, 100_000, ended=False)
    assert not found.alarm
    assert found.sentence == (
        f"{BEGIN}100 s, by run flush/r: the run is at work (forecast: at most 100 s); of the 2.0 h that retention.ms "
        "of in-1 leaves its waiting records, half is over in 3,500 s, all of it in 7,100 s (1970-01-01 02:00 UTC)"
    )
    late = held_status(HELD, FORECAST, 100_001, ended=False)
    assert late.alarm
    assert "the run is still at work, longer than its forecast (limit 100 s)" in late.sentence


def test_a_run_that_has_ended_is_an_alarm_at_once() -> None:
    """With what is left of half of the limit and of all of it."""
    found = held_status(HELD, FORECAST, 4_000_000, ended=True)
    assert found.alarm
    assert "the run has ended and brings nothing back; of the 2.0 h" in found.sentence
    assert "half is over since 400 s, all of it in 3,200 s" in found.sentence
    assert "all of it since 1970-01-01 02:00 UTC" in held_status(HELD, FORECAST, 8_000_000, ended=True).sentence


def test_another_run_that_is_at_work_on_it_is_no_alarm() -> None:
    """An undo of it, until the forecast is over."""
    undo = held_status(HELD, FORECAST, 50_000, ended=True, worker="undo/u")
    assert not undo.alarm
    assert "the run has ended, and run undo/u is at work on the application" in undo.sentence
    assert held_status(HELD, FORECAST, 200_000, ended=True, worker="undo/u").alarm


def test_without_a_forecast_nothing_is_known_of_the_limits() -> None:
    """A run at work is no alarm then; a forecast with an unknown part has no end."""
    alone = held_status(HELD, None, 9_000_000, ended=False)
    assert not alone.alarm
    assert alone.sentence.endswith(
        "the run is at work (it has no forecast); how long what waits lasts is not known: the run has kept no limit"
    )
    assert not held_status(HELD, replace(FORECAST, unknown=("x",)), 200_000, ended=False).alarm
    assert held_status(HELD, None, 0, ended=True).alarm
    form = replace(FORECAST, limits=(HoldLimit("the form allows", 600, 600),))
    assert held_status(HELD, form, 0, ended=True).sentence.endswith(
        "that the form allows, all of it in 600 s (1970-01-01 00:10 UTC)"
    )


def test_a_plan_with_several_holds_names_the_one_that_is_open() -> None:
    """By its stages, which the plan and its approval show."""
    second = replace(HELD, how="copier", number=2, hold="hold 2 of 2, stages 4 to 7")
    sentence = held_status(second, FORECAST, 0, ended=True).sentence
    assert "are held (copier, hold 2 of 2, stages 4 to 7) since" in sentence
    assert "are held (swap) since" in held_status(HELD, FORECAST, 0, ended=True).sentence
