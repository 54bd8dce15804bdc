"""What is drawn for a soak of cutovers, and its page."""

from dataclasses import replace

from soak.cutovers import CutOver, Drawn, markdown, planned

_PLAIN = Drawn("plain", 4.2, "")
_ENDED = CutOver(_PLAIN, "orders-running-green", 12_345, (0.9, 8.1), "was down for 35 s")


def test_a_seed_draws_the_same_cutovers() -> None:
    """Of every kind, and a task for each that is disturbed."""
    drawn = [*planned(7, 40)]
    assert drawn == [*planned(7, 40)]
    assert drawn != [*planned(8, 40)]
    assert {one.kind for one in drawn} == {"plain", "killed", "restarted"}
    assert {bool(one.task) for one in drawn if one.kind != "plain"} == {True}
    assert {one.task for one in drawn if one.kind == "plain"} == {""}


def test_the_page_has_every_cutover() -> None:
    """With its seconds and its fault."""
    page = markdown(7, [_ENDED, replace(_ENDED, drawn=Drawn("killed", 1, "certify"), held_s=(), fault="1 lost")])
    assert "| 2 | 1 | 12,345 | median 8.1 s, longest 8.1 s |" in page
    assert "| 1 | plain |  | orders-running-green | 12,345 | 0.9 s, 8.1 s | was down for 35 s |  |" in page
    assert "| 2 | killed | certify | orders-running-green | 12,345 |  | was down for 35 s | 1 lost |" in page
    assert "|  | 0 |" not in markdown(7, [])
