"""The two sides of a change in a run: the running versions, and the wanted release."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from kstreams_runbooks.decide.change.comparable import comparable, with_settings
from kstreams_runbooks.decide.change.described import Known, side_of
from kstreams_runbooks.decide.change.unchanged import with_unchanged
from kstreams_runbooks.decide.comparison.setting_facts import NEW_NAMES
from kstreams_runbooks.decide.comparison.state.changelogs import windowed_changelogs
from kstreams_runbooks.decide.instances.of_build import with_code_of_build
from kstreams_runbooks.decide.instances.running import RunningRelease, one_release, running_releases
from kstreams_runbooks.decide.instances.running_facts import differences, of_a_release, with_declared, with_facts
from kstreams_runbooks.decide.plans.basis import require_declared
from kstreams_runbooks.decide.releases.settings import rows_about
from kstreams_runbooks.decide.runs.commands import UNDO
from kstreams_runbooks.decide.topology.code_facts import is_facts
from kstreams_runbooks.decide.topology.described import parsed
from kstreams_runbooks.documents.text import Absent, read_text
from kstreams_runbooks.errors import BadInput, Inconclusive, Refused, RunbookError, Unreachable
from kstreams_runbooks.fleet import release_declaration
from kstreams_runbooks.fleet.topology_facts import read_facts
from kstreams_runbooks.model.fleet_entry import DeclaredApplication
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.releases.settings import SettingCatalogue
from kstreams_runbooks.model.target import RunbookSettings, Target
from kstreams_runbooks.model.topology.declaration import Contradiction, Declaration, DeclaredStore, Described
from kstreams_runbooks.rules import release_settings
from kstreams_runbooks.steps.run.form import given_lost, given_unchanged
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.watch.restoring_logs import with_kept
from kstreams_runbooks.wording import first_of

# How many differences between instances one sentence names.
_MOST = 3
_GUARANTEE = "processing.guarantee"
_NONE_SET: Mapping[str, str] = {}
_FILE, _TEXT, _RELEASE = "topology_file", "topology_text", "release"


def running(run: Run, found: RunningRelease) -> Described:
    """A running version as its instances describe it; if none does, as its release's topology command prints it.

    Refused if it is printed with the settings of its instances, and these differ.
    """
    if found.text is None:
        first, *more = _printed_targets(run, found)
        if more:
            raise Refused(
                f"instances of {run.declared.name}: {', '.join(found.instances)} do not run, and are set to "
                f"{' and '.join(one.text for one in (first, *more))} (expected: one); set all to the same first"
            )
        return deployable(run, first)
    named = dict(found.targets[0].settings) if found.targets else {}
    described = described_by(run, found.release, ", ".join(found.instances), found.text, found.read, named)
    return replace(described, unread=found.unread)


def running_or_missing(run: Run, reading: ApplicationReading) -> tuple[Described | Missing, ...]:
    """Each running version; Missing if neither its instances nor its release describe it.

    Unreachable if a topology command does not end: it may at the next try.
    """
    return tuple(version for version, _ in running_by_instance(run, reading))


def running_by_instance(
    run: Run, reading: ApplicationReading
) -> tuple[tuple[Described | Missing, tuple[str, ...]], ...]:
    """Each running version as above, with the names of the instances that run it."""
    found = run.running_facts(reading)
    versions = [one for version in running_releases(reading) for one in with_facts(version, found)]
    return tuple(
        (described_or_missing(run, one.release, partial(running, run, one)), one.instances) for one in versions
    )


def described_or_missing(run: Run, release: str, look: Callable[[], Described]) -> Described | Missing:
    """A version by a look at it; Missing if nothing describes it. Unreachable as above."""
    try:
        return look()
    except RunbookError as error:
        # An undo does not wait for a registry that is down.
        if isinstance(error, Unreachable) and run.record.dag_id != UNDO:
            raise
        return Missing(f"release {release} is not described: {error}")


def one_running(run: Run, reading: ApplicationReading) -> RunningRelease:
    """The version that every instance runs, with its facts; Refused if several run, or one with different facts."""
    version = one_release(reading)
    first, *more = with_facts(version, run.running_facts(reading))
    for other in more:
        if first.read is not None and other.read is not None:
            differ = first_of(list(differences(first.read, other.read)), _MOST, "; ")
            raise Refused(
                f"instances of {reading.application}: the programs of {', '.join(first.instances)} and "
                f"{', '.join(other.instances)} differ in release {version.release} (expected: one): {differ}; look at "
                "their settings, and bring all to the same first"
            )
    return first


def with_its_code(run: Run, version: RunningRelease, described: Described, wanted: Described | Missing) -> Described:
    """A running version with the digests of code that the topology command of its release prints.

    As it is if the wanted release has none to compare, or if that command described it already. Unreachable if the
    command does not end.
    """
    if version.text is None or isinstance(wanted, Missing) or not wanted.declaration.code:
        return described
    targets = _printed_targets(run, version)
    if len(targets) == 1:
        build = described_or_missing(run, version.release, partial(_build_of, run, targets[0]))
    else:
        build = Missing(f"{', '.join(version.instances)} have {len(targets)} sets of settings (expected: one)")
    found = with_code_of_build(described, version.read, build, wanted.declaration.code, release_settings())
    for why in found.unread[len(described.unread) :]:
        run.say(f"not compared: {why}")
    return found


def _build_of(run: Run, target: Target) -> Described:
    """What the topology command of a release prints of its program, without what its file declares."""
    text, read = topology_of(run, target), run.deployer.facts(target)
    declared = None if read is None else of_a_release(read)
    return Described(target.release, "", _command_of(target), text, declared)


def _command_of(target: Target) -> str:
    return f"topology command of {target.release}"


def described_by(
    run: Run,
    release: str,
    instances: str,
    text: str,
    read: Declaration | None = None,
    settings: Mapping[str, str] = _NONE_SET,
) -> Described:
    """A release with the description that its `instances` report, and what was `read` of their program.

    `settings` are those that runbooks have set of them.
    """
    found = _with_read(run, Described(release, "", instances, text), read, settings)
    runs, entry = None if read is None else (read.config or {}).get(_GUARANTEE), run.declared.processing_guarantee
    if runs is None or found.declared is None or entry in {runs, "unknown"}:
        return found
    wrong = Contradiction(f"{_GUARANTEE.replace('.', '_')} of the fleet entry", entry, runs)
    return replace(found, declared=replace(found.declared, contradictions=(*found.declared.contradictions, wrong)))


def deployable(run: Run, target: Target) -> Described:
    """A release as its deployer's topology command prints it; BadInput for one that is not declared."""
    require_declared(run.declared, target.release)
    return _printed(run, target, topology_of(run, target))


def topology_of(run: Run, target: Target) -> str:
    """The description that the deployer's command prints; a command that gave no answer is run again for a while.

    Inconclusive for a command that fails: what it would have printed is not known.
    """
    try:
        return run.patiently(lambda: run.deployer.topology(target))
    except Refused as error:
        raise Inconclusive(str(error)) from None


def _printed(run: Run, target: Target, text: str) -> Described:
    """A release with the description that its topology command has printed, and with the facts if it printed them."""
    described = Described(target.release, "", _command_of(target), text)
    read = run.deployer.facts(target)
    return _with_read(run, described, None if read is None else of_a_release(read), dict(target.settings))


def _with_read(
    run: Run, described: Described, read: Declaration | None, settings: Mapping[str, str] = _NONE_SET
) -> Described:
    """A release with its library, and with what was read of its program over what its file declares."""
    library, declared = _known_of(run, described.release)
    declared = None if declared is None else _with_inputs(run, declared, settings)
    if read is None:
        return _with_lost(run, replace(described, library=library, declared=declared))
    known = declared or Declaration(library=Release.parse(library) if library else None)
    both = with_declared(read, known)
    return _with_lost(run, replace(described, library=str(both.library or ""), declared=both, read=True, file=declared))


def _with_inputs(run: Run, declared: Declaration, settings: Mapping[str, str]) -> Declaration:
    """The declaration with the inputs by the names that a runbook has set: the file has those of the fleet entry."""
    now = {topic: settings.get(setting, topic) for setting, topic in run.declared.input_settings}
    return replace(declared, topics={now.get(name, name): topic for name, topic in declared.topics.items()})


def _with_lost(run: Run, described: Described) -> Described:
    """The version with what the form names as `lose_state`: those of its stores may begin empty."""
    if not (named := given_lost(run.record.params)):
        return described
    declared, own = described.declaration, parsed(described).topology.stores
    stores = {
        name: replace(declared.stores.get(name, DeclaredStore()), loss_acceptable=True) for name in own & set(named)
    }
    return replace(described, declared=replace(declared, stores={**declared.stores, **stores}))


def _printed_targets(run: Run, found: RunningRelease) -> tuple[Target, ...]:
    """What has to be printed to describe a running version that no instance describes."""
    return tuple(dict.fromkeys(map(run.deployer.topology_target, found.targets)))


def before_a_roll(
    run: Run, reading: ApplicationReading, target: Target
) -> tuple[tuple[Described, ...], Described | Missing]:
    """Every running version, and the wanted release; Missing if one of them cannot be described.

    Unreachable if a topology command does not end: it may at the next try.
    """
    found = run.running_facts(reading)
    versions = [one for version in running_releases(reading) for one in with_facts(version, found)]
    silent = [one for version in versions if version.text is None for one in _printed_targets(run, version)]
    try:
        printed = {one: topology_of(run, one) for one in sorted({target, *silent})}
    except Unreachable:
        raise
    except RunbookError as error:
        return (), Missing(str(error))
    require_declared(run.declared, target.release)
    after = _with_form(run, _printed(run, target, printed[target]))
    before = tuple(
        described
        for version in versions
        for described in (
            [_printed(run, one, printed[one]) for one in _printed_targets(run, version)]
            if version.text is None
            else [with_its_code(run, version, running(run, version), after)]
        )
    )
    return comparable(before, with_settings(after, target.settings))


def wanted(run: Run, settings: RunbookSettings = ()) -> Described:
    """The wanted side from the form: a release by its topology command, a description, or facts; else BadInput.

    A release is described with `settings`, if its topology command takes any. Its declaration has what the form names
    as unchanged.
    """
    return _with_form(run, _wanted(run, settings))


def _with_form(run: Run, described: Described) -> Described:
    """The wanted side with the fields that the form names as unchanged."""
    if not (fields := given_unchanged(run.record.params)):
        return described
    declared = with_unchanged(described.declaration, fields, f"in the form by {run.record.requested_by}")
    return replace(described, declared=declared)


def _wanted(run: Run, settings: RunbookSettings) -> Described:
    release, file, text = (_given(run, name) for name in (_RELEASE, _FILE, _TEXT))
    if file and text:
        raise BadInput(f"{_FILE} and {_TEXT}: both are given (expected: one description); leave one")
    if not (release or file or text):
        raise BadInput(f"{_RELEASE}, {_FILE}, {_TEXT}: none is given (expected: one); give the one to compare")
    if not (file or text):
        return deployable(run, Target(release, settings))
    if release:
        require_declared(run.declared, release)
    given, source = text or _read(file), file or _TEXT
    if not is_facts(given):
        return _with_read(run, Described(release, "", source, given), None)
    facts = read_facts(given, source)
    if facts.text is None:
        raise BadInput(f"{source}: these topology facts have no description; print them with topology-facts.jar again")
    return _with_read(run, Described(release, "", source, facts.text), of_a_release(facts.read))


def known_of(run: Run, reading: ApplicationReading, partitions: Mapping[str, int] | None = None) -> Known:
    """Facts of the fleet entry and of the cluster: partitions (by default of the topics that were read), brokers."""
    if partitions is None:
        topics = () if isinstance(reading.topics, Missing) else reading.topics
        partitions = {topic.name: topic.partitions for topic in topics}
    broker = reading.broker
    if isinstance(broker, Missing):
        return Known(run.declared, dict(partitions))
    return Known(
        run.declared,
        dict(partitions),
        "" if isinstance(broker.version, Missing) else broker.version,
        None if isinstance(broker.auto_create_topics, Missing) else broker.auto_create_topics,
    )


def with_kept_logs(run: Run, before: Iterable[Described], known: Known) -> tuple[Described, ...]:
    """Each running version, with the time that the changelogs of its windows keep records on the cluster.

    A release declares what the library set when it created them, which may have been altered since. Unreachable if no
    broker answers.
    """
    return tuple(_with_kept_logs(run, version, known) for version in before)


def _with_kept_logs(run: Run, version: Described, known: Known) -> Described:
    side, application_id = side_of(parsed(version), known), run.declared.application_id
    if not windowed_changelogs(side, application_id):
        return version
    with run.reader() as reader:
        stores = with_kept(reader, side, application_id).declared.stores
    return replace(version, declared=replace(version.declaration, stores=stores))


def settings_between(before: Iterable[Described], after: Described | Missing) -> SettingCatalogue:
    """The rows about the settings of a change that a decision needs; none if neither side declares settings."""
    if isinstance(after, Missing):
        return SettingCatalogue()
    before = tuple(before)
    names = {
        name
        for one in (*before, after)
        if one.declared is not None and one.declared.config is not None
        for given in ("processing.guarantee", *one.declared.config, *one.declared.settings_not_read)
        for name in (given, NEW_NAMES.get(given, given))
    }
    if not names:
        return SettingCatalogue()
    running = [library for one in before if (library := _library(one)) is not None]
    return rows_about(names, running, _library(after), release_settings())


def _library(described: Described) -> Release | None:
    if described.library:
        return Release.parse(described.library)
    return None if described.declared is None else described.declared.library


def _known_of(run: Run, release: str) -> tuple[str, Declaration | None]:
    """Library and declaration of a release; empty and None for a release that is not in the fleet entry."""
    declared: DeclaredApplication = run.declared
    if release not in declared.releases:
        return "", None
    library = declared.library(release)
    return library, release_declaration(declared.name, release, library)


def _given(run: Run, name: str) -> str:
    value: Any = run.record.params.get(name)
    return str(value).strip() if value is not None else ""


def _read(name: str) -> str:
    """A description in a file of the worker; errors never show a line of any other file."""
    path = Path(name)
    if not path.is_absolute():
        raise BadInput(f"{_FILE}: {name} is not an absolute path; the worker does not know your folder")
    try:
        text = read_text(path)
    except Absent:
        raise BadInput(
            f"{_FILE}: {name} does not exist on this worker; give its path there, or paste the text"
        ) from None
    except BadInput as error:
        raise BadInput(f"{_FILE}: {name} {error}, or paste the text of Topology#describe") from None
    if "Topologies:" not in text and "Topology: " not in text:
        raise BadInput(f"{_FILE}: {name} has no topology description (expected a line `Topologies:`)")
    return text
