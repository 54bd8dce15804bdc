"""Which settings a runbook may set, and what is shown of any other setting among them."""

from collections.abc import Iterable, Mapping

from kstreams_runbooks.errors import WriteRefused
from kstreams_runbooks.model.target import Target

# What the runbooks of this project set themselves; neither is ever a secret.
ALWAYS = frozenset({"processing.guarantee", "upgrade.from"})
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


def shown(settings: Mapping[str, str], settable: frozenset[str]) -> tuple[tuple[str, str], ...]:
    """Settings by key; the value of any that no runbook sets is hidden, because it may be a secret."""
    return tuple((key, value if key in settable else HIDDEN) for key, value in sorted(settings.items()))
