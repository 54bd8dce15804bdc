"""Which bounces take an application from one Kafka Streams release to another."""

from collections.abc import Iterable
from dataclasses import dataclass

from kstreams_runbooks.errors import BadInput, Refused
from kstreams_runbooks.model.plan import Bounce
from kstreams_runbooks.model.versions import Release, UpgradePathRule


@dataclass(frozen=True, slots=True)
class VersionPath:
    """The bounces of one leg and the row that they come from."""

    bounces: tuple[Bounce, ...]
    rule: UpgradePathRule


def version_path(
    rules: Iterable[UpgradePathRule], running: Release, target: Release, uses: frozenset[str]
) -> VersionPath:
    """Bounces from `running` to `target` for an application that uses `uses` (unknown counts as used).

    Refused where no row covers the pair: a path that nobody has shown is never guessed. BadInput where both are equal.
    Source: Kafka Streams Upgrade Guide, "Upgrade Guide and API Changes".
    """
    if running == target:
        raise BadInput(f"target {target}: every instance already runs {running}; give another release")
    for rule in rules:
        if _covers(rule, running, target) and set(rule.needs) <= uses:
            if rule.upgrade_from:
                return VersionPath(
                    (
                        Bounce(1, str(target), (("upgrade.from", running.minor),)),
                        Bounce(2, str(target), ()),
                    ),
                    rule,
                )
            return VersionPath((Bounce(1, str(target), ()),), rule)
    raise Refused(
        f"library bump {running} to {target}: no published rule covers this pair; "
        f"covered are {', '.join(sorted({_pair(rule) for rule in rules}))}; choose a covered target"
    )


def _covers(rule: UpgradePathRule, running: Release, target: Release) -> bool:
    def within(release: Release, low: str, high: str) -> bool:
        minor = Release.parse(release.minor)
        return Release.parse(low) <= minor <= Release.parse(high)

    return within(running, rule.from_min, rule.from_max) and within(target, rule.to_min, rule.to_max)


def _pair(rule: UpgradePathRule) -> str:
    return f"{rule.from_min} to {rule.to_min}–{rule.to_max}"
