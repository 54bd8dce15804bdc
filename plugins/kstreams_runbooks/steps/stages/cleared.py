"""Local state that has to be seen gone: after it is deleted, and once more right before an instance starts."""

from collections.abc import Iterable

from kstreams_runbooks.decide.reset.cleared import state_is_gone
from kstreams_runbooks.decide.reset.radius import may_reset
from kstreams_runbooks.errors import RunbookError
from kstreams_runbooks.ledger.codec import decode
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.reset import BlastRadius, LocalSize
from kstreams_runbooks.model.runs.stages import ClearState
from kstreams_runbooks.steps.run.run import Run


def require_gone_state(run: Run, stage: ClearState, instances: Iterable[str]) -> None:
    """Refused or Inconclusive unless the deployer reports that what the stage deletes is gone on these instances."""
    local = tuple(_size(run, name) for name in instances)
    run.demand(run.decide(state_is_gone, local=local, directories=stage.deletes.names))


def require_still_gone(run: Run, instances: Iterable[str]) -> None:
    """The same right before a start of these instances, if a stage of the plan demands that it is seen."""
    for stage in run.plan().stages:
        if isinstance(stage, ClearState) and stage.seen:
            require_gone_state(run, stage, instances)


def shown_radius(run: Run) -> BlastRadius | None:
    """The blast radius with which this run was planned, None without one."""
    kept = run.verdicts(may_reset.__name__)
    if not kept:
        return None
    found: BlastRadius = decode(BlastRadius, kept[-1].payload["inputs"]["radius"])
    return found


def lost_stores(run: Run) -> tuple[str, ...]:
    """Stores that nothing restores in full once local state is deleted, as the plan of a reset found them."""
    radius = shown_radius(run)
    stores = () if radius is None else radius.stores
    return tuple(one.store for one in stores if one.fate == "lost" or one.local_only)


def _size(run: Run, instance: str) -> LocalSize:
    try:
        return LocalSize(instance, run.deployer.state_sizes(instance))
    except RunbookError as error:
        return LocalSize(instance, Missing(str(error)))
