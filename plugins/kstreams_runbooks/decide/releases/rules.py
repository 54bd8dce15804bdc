"""Queries on the version rules: accepted values of a release, brokers that work with it, possible bridges."""

from collections.abc import Iterator

from kstreams_runbooks.errors import BadInput, Inconclusive
from kstreams_runbooks.model.releases.path import PathFinding, PathQuestion, UpgradePath
from kstreams_runbooks.model.releases.release import Release, within
from kstreams_runbooks.model.releases.rules import BrokerRule, Change, Guarantee, Setting, UpgradePathRules


def check_question(question: PathQuestion, rules: UpgradePathRules) -> None:
    """BadInput for an unknown release, guarantee or protocol, and for one release as both ends.

    Inconclusive for a release that is newer than the rules.
    """
    for release in (question.running, question.target):
        check_release(release, rules)
    for name, value, settings in (
        ("processing guarantee", question.guarantee, rules.guarantees),
        ("group protocol", question.group_protocol, rules.protocols),
    ):
        if value is None:
            continue
        setting = next((one for one in settings if one.value == value), None)
        if setting is None:
            known = ", ".join(one.value for one in settings)
            raise BadInput(f"{name} {value!r}: not one that Kafka Streams has; give one of {known}")
        if not within(question.running, setting.releases):
            had = ", ".join(one.value for one in settings if within(question.running, one.releases))
            raise BadInput(
                f"{name} {value}: {question.running} does not have it; give the present one ({question.running} has "
                f"{had}). {_switch_later(setting, question, rules)}"
            )
    if question.running == question.target:
        raise BadInput(
            f"target {question.target}: every instance already runs {question.running}; give another release. About "
            f"another topology or other settings on {question.running}, such as group.protocol, ask `plan`"
        )


def _switch_later(setting: Setting, question: PathQuestion, rules: UpgradePathRules) -> str:
    """What to ask for a value that the running release does not have: it was meant for the target."""
    if not within(question.target, setting.releases):
        first = next(release for release in rules.releases if within(release, setting.releases))
        other = f"{question.target} does not have it either. " if question.target != question.running else ""
        return f"{other}The first release with it is {first}"
    objections = broker_rows(question.target, question.guarantee, question, rules)
    objection = next((row for row in objections if row.effect == "refuse"), None)
    before = f"; before that, {objection.reason} The brokers are {question.broker}" if objection else ""
    return f"To switch to it, follow the path and then ask `plan`{before}"


def check_release(release: Release, rules: UpgradePathRules) -> None:
    """BadInput for a release that is not published, Inconclusive for one that is newer than the rules."""
    if release in rules.releases:
        return
    if is_newer(release, rules):
        raise Inconclusive(f"release {release}: {newer_than(release, rules)}; {how_to_learn(release)}")
    fitting = [one.text for one in _of_minor(release, rules)]
    known = (
        f"{release.minor} has {', '.join(fitting)}"
        if fitting
        else f"known are {rules.releases[0]} to {rules.releases[-1]}"
    )
    raise BadInput(f"release {release}: not a published release of Kafka Streams; {known}")


def is_newer(release: Release, rules: UpgradePathRules) -> bool:
    """Whether a release came after the rules: it is above all that they know, or above all patches of its minor."""
    return release > (_of_minor(release, rules) or rules.releases)[-1]


def newer_than(release: Release, rules: UpgradePathRules) -> str:
    """What is not known of a release that came after the rules."""
    of_minor = _of_minor(release, rules)
    newest = f"{of_minor[-1]}, the newest {release.minor}" if of_minor else f"{rules.releases[-1]}, the newest release"
    return f"newer than {newest} that the rules know: its paths, settings and defects are not known"


def _of_minor(release: Release, rules: UpgradePathRules) -> list[Release]:
    return [one for one in rules.releases if one.minor == release.minor]


def how_to_learn(release: Release) -> str:
    """What a person runs, in a checkout of this project, for the rows of a release that the rules do not know."""
    return f"`make new-release RELEASE={release}` in a checkout prints the rows to add (docs/new_release.md)"


def newest_of(release: Release, rules: UpgradePathRules) -> Release:
    """A release itself; of a minor its newest known patch. BadInput if it is unknown, Inconclusive if it is newer."""
    fitting = [one for one in rules.releases if release.text in {one.text, one.minor}]
    if not fitting:
        check_release(release, rules)
    return fitting[-1]


def accepted_upgrade_from(release: Release, rules: UpgradePathRules) -> tuple[str, ...]:
    """Values of `upgrade.from` with which a release starts and runs, oldest first; none if no row covers it."""
    row = next((row for row in rules.upgrade_from if within(release, row.releases)), None)
    if row is None or not row.highest:
        return ()
    low, high = Release(row.lowest), Release(row.highest)
    minors = dict.fromkeys(one.minor for one in rules.releases)
    return tuple(minor for minor in minors if low <= Release(minor) <= high and not within(Release(minor), row.throws))


def takes_guarantee(release: Release, guarantee: Guarantee, rules: UpgradePathRules) -> bool:
    """Whether a release has a value of `processing.guarantee`."""
    return any(one.value == guarantee and within(release, one.releases) for one in rules.guarantees)


def broker_rows(
    release: Release, guarantee: Guarantee | None, question: PathQuestion, rules: UpgradePathRules
) -> Iterator[BrokerRule]:
    """Rows that the question's broker does not satisfy, once instances run `release` with `guarantee`."""
    if question.broker is None:
        return
    for row in rules.brokers:
        asks = (
            within(release, row.releases)
            and (not row.guarantees or guarantee in row.guarantees)
            and (not row.protocols or question.group_protocol in row.protocols)
        )
        if asks and not within(question.broker, row.brokers):
            yield row


def is_shunned(release: Release, rules: UpgradePathRules) -> bool:
    """Whether a defect of a release keeps it from being a bridge, for any application."""
    return any(row.of == "library" and row.shuns and within(release, row.releases) for row in rules.defects)


def changes_between(question: PathQuestion, rules: UpgradePathRules) -> Iterator[PathFinding]:
    """Changes in the releases between the two, oldest first; going back, none of them is a danger any more."""
    ends = question.running.numbers, question.target.numbers
    for change in rules.changes:
        if min(ends) < Release(change.since).numbers <= max(ends):
            severity = change.severity if ends[0] < ends[1] else "info"
            yield PathFinding(change.id, severity, change.since, change.message, change.source)


def settings_first(path: UpgradePath, rules: UpgradePathRules) -> tuple[str, ...]:
    """Settings that the warnings of a path ask for, to be made before its first run; none without a path."""
    warned = {finding.id for finding in path.findings if finding.severity == "warning"} if path.legs else set()
    rows: tuple[BrokerRule | Change, ...] = (*rules.brokers, *rules.changes)
    return tuple(dict.fromkeys(row.setting for row in rows if row.setting and row.id in warned))
