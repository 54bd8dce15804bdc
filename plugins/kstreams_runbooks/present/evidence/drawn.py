"""The course of a run as an SVG: a bar for each try of each task, a mark for each approval, change and failure."""

import html
from collections.abc import Iterator, Sequence

from kstreams_runbooks.model.times import SECOND_MS, utc_second
from kstreams_runbooks.present.evidence.timeline import Event
from kstreams_runbooks.wording import outside

_WIDTH, _NAMES, _ROW, _BAR = 1060, 200, 22, 12
_LONGEST_NAME = 30
_GOOD, _BAD, _OLD = "#4662a8", "#b3261e", "#b8bfcc"


def drawn_run(every: Sequence[Event]) -> str:
    """One row for each task in the order of its first entry; superseded tries are grey, failures red.

    A mark is an entry without a try: an approval, or a change before it is made.
    """
    tasks = list(dict.fromkeys(one.task for one in every))
    begin = min(one.at_ms for one in every)
    end = max(max(one.at_ms, one.until_ms) for one in every)
    height = _ROW * (len(tasks) + 1)
    name = html.escape(f"Course of the run from {utc_second(begin)} to {utc_second(end)}")
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{name}">',
        *(line for place, task in enumerate(tasks) for line in _row(place, task, every, begin, end)),
        f'<text x="{_NAMES}" y="{height - 6}">{html.escape(utc_second(begin))}</text>',
        f'<text x="{_WIDTH}" y="{height - 6}" text-anchor="end">+{(end - begin) / SECOND_MS:,.0f} s</text>',
        "</svg>",
    ]
    return "\n".join(lines)


def _row(place: int, task: str, every: Sequence[Event], begin: int, end: int) -> Iterator[str]:
    y = place * _ROW
    yield f'<text x="0" y="{y + 14}">{html.escape(outside(task, _LONGEST_NAME))}</text>'
    own = [one for one in every if one.task == task]
    last = max(one.attempt for one in own)
    for attempt in dict.fromkeys(one.attempt for one in own if one.attempt):
        of = [one for one in own if one.attempt == attempt]
        first, until = _x(of[0].at_ms, begin, end), _x(max(max(one.at_ms, one.until_ms) for one in of), begin, end)
        colour = _OLD if attempt < last else _BAD if any(one.bad for one in of) else _GOOD
        title = html.escape(f"{task}, try {attempt}: {of[-1].sentence}")
        yield (
            f'<rect x="{first}" y="{y + 4}" width="{max(2, until - first)}" height="{_BAR}" fill="{colour}">'
            f"<title>{title}</title></rect>"
        )
    for one in own:
        if not one.attempt:
            title = html.escape(one.sentence)
            yield f'<circle cx="{_x(one.at_ms, begin, end)}" cy="{y + 10}" r="4"><title>{title}</title></circle>'


def _x(at_ms: int, begin: int, end: int) -> int:
    share = (at_ms - begin) / max(1, end - begin)
    return _NAMES + round(min(max(share, 0), 1) * (_WIDTH - _NAMES - 8))
