"""The runbooks that `make demo` can show: what each one starts from, and the form that it is triggered with."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from kstreams_runbooks.demo.traffic.schedule import CUSTOMER_EVERY
from kstreams_runbooks.errors import BadInput
from world.greening import GREEN

from lab import adopted, cut_over, started_over
from lab.application import NEWEST, TO_RELEASE, WITH_REPARTITION, WITHOUT_REPARTITION, Deployed
from lab.shipped_copier import NAME

DEFAULT = "library_bump"
_AGAIN = "again-"


@dataclass(frozen=True)
class Shown:
    """A runbook in the demo: its DAG, the application before it, its form; one customer update after so many events.

    A runbook that starts the application over writes to outputs that begin with `new_outputs`, and has to leave another
    application with a longer id alone (lab/neighbour.py). With `copier` producers write in front of the shipped copier;
    with `adopts` the copier that it puts in front of the application is deployed, and does not run (lab/adopted.py).
    With `cuts_over` a second side runs, and a group reads the outputs of the first one (lab/cut_over.py).
    """

    dag_id: str
    form: Mapping[str, Any]
    deployed: Deployed = field(default_factory=Deployed)
    customer_every: int = CUSTOMER_EVERY
    new_outputs: str = ""
    copier: bool = False
    adopts: bool = False
    cuts_over: bool = False


_ALL = (
    Shown(DEFAULT, {"target": NEWEST}),
    # Enough updates that some are on their way through the repartition topic at any moment.
    Shown(
        "control_topic_flush",
        {
            "release": WITHOUT_REPARTITION,
            "switch": "swap",
            "accept_late_loss": "the demo holds its inputs for a minute",
        },
        Deployed(release=WITH_REPARTITION),
        customer_every=4,
    ),
    Shown(
        "adopt_control_topic",
        {"copier": adopted.COPIER, "accept_late_loss": "the demo stops its application for a minute"},
        Deployed(release=TO_RELEASE),
        adopts=True,
    ),
    Shown(
        "blue_green_cutover",
        {"green": GREEN, "copier": NAME, "accept_late_loss": cut_over.LATE},
        Deployed(release=TO_RELEASE),
        copier=True,
        cuts_over=True,
    ),
    Shown(
        "reset_and_cleanup",
        {"mode": "reset", "settings": started_over.outputs(_AGAIN)},
        Deployed(release=TO_RELEASE),
        new_outputs=_AGAIN,
    ),
)


def shown(name: str, switch: str = "") -> Shown:
    """The runbook of that name, the default for an empty one; BadInput for one that the demo does not show.

    A `switch` is of a flush alone: `swap`, or `copier`.
    """
    for one in _ALL:
        if one.dag_id == (name or DEFAULT):
            return one if not switch else _switched(one, switch)
    there = ", ".join(one.dag_id for one in _ALL)
    raise BadInput(f"RUNBOOK={name}: the demo does not show it; leave it out, or set RUNBOOK to one of {there}")


def _switched(one: Shown, switch: str) -> Shown:
    if "switch" not in one.form or switch not in {"swap", "copier"}:
        raise BadInput(f"SWITCH={switch}: leave it out, or set it to swap or copier with RUNBOOK=control_topic_flush")
    if switch == "swap":
        return one
    return replace(one, form={**one.form, "switch": switch, "copier": NAME}, copier=True)
