"""Which settings a runbook may set, and what is shown of any other setting among them."""

from collections.abc import Iterable, Mapping

from kstreams_runbooks.errors import BadInput, Inconclusive, WriteRefused
from kstreams_runbooks.model.target import RunbookSettings, Target

# What the runbooks of this project set themselves; neither is ever a secret.
_UPGRADE_FROM = "upgrade.from"
ALWAYS = frozenset({"processing.guarantee", _UPGRADE_FROM})
HIDDEN = "(hidden)"


def settable_keys(declared: Iterable[str]) -> frozenset[str]:
    """Keys that may be set if the fleet entry declares these in addition."""
    return ALWAYS | frozenset(declared)


def refuse_others(instance: str, target: Target, settable: frozenset[str]) -> None:
    """WriteRefused if a setting is not `settable`."""
    if strange := sorted(dict(target.settings).keys() - settable):
        raise WriteRefused(
            f"{instance}: no runbook sets {', '.join(strange)} (allowed: {', '.join(sorted(settable))}; more by "
            "`settable` in the fleet entry)"
        )


def check_once(instance: str, once: RunbookSettings, settable: frozenset[str], missing: str) -> None:
    """WriteRefused for a setting that no runbook sets, BadInput if the deployer cannot pass it, for `missing`."""
    if once:
        refuse_others(instance, Target("", once), settable)
        if missing:
            raise BadInput(f"{instance}: {', '.join(key for key, _ in once)} cannot be set for one start: {missing}")


def refuse_running(instance: str, once: RunbookSettings) -> None:
    """WriteRefused for settings of a start that does not happen: the instance runs."""
    if once:
        raise WriteRefused(
            f"{instance} runs already: {', '.join(key for key, _ in once)} would have no effect; stop it first"
        )


def described_target(target: Target, *, with_settings: bool, started: bool = False) -> Target:
    """What of a target its topology command gets.

    No topology depends on `upgrade.from`. Whether the library takes the settings does: `started` has all of them.
    """
    if not with_settings:
        return target.release_alone
    return target if started else target.without(_UPGRADE_FROM)


def require_shown(target: Target) -> None:
    """Inconclusive if the value of a setting is hidden: the topology with it cannot be printed."""
    if hidden := [key for key, value in target.settings if value == HIDDEN]:
        raise Inconclusive(
            f"the topology of {target.release} cannot be read: the value of {', '.join(hidden)} is hidden, because no "
            "runbook sets it; declare it under `settable`, or move it out of what runbooks set"
        )


def shown(settings: Mapping[str, str], settable: frozenset[str]) -> tuple[tuple[str, str], ...]:
    """Settings by key; the value of any that no runbook sets is hidden, because it may be a secret."""
    return tuple((key, value if key in settable else HIDDEN) for key, value in sorted(settings.items()))
