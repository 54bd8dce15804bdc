"""The known defects of what runs: all that is known of it for `readiness`, a line of names for the scheduled check."""

from collections.abc import Iterable

from kstreams_runbooks.decide.change.defects import defects_that_bite, entry_facts
from kstreams_runbooks.decide.instances.running_facts import of_a_release
from kstreams_runbooks.decide.releases.defects import defect_findings, may_apply
from kstreams_runbooks.fleet import Application
from kstreams_runbooks.model.discovery.readiness import ReadinessReading
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.topology.declaration import Described
from kstreams_runbooks.model.topology.facts import FactsReading
from kstreams_runbooks.model.verdicts import Finding
from kstreams_runbooks.rules import upgrade_path_rules


def running_defects(found: ReadinessReading) -> tuple[Finding, ...]:
    """The known defects that bite what runs, or may: what no instance shows of its program is not known.

    Without the release of any instance there are none to name; readiness reports such an instance by itself.
    """
    versions: list[Described] = []
    for one in found.reading.instances:
        facts = found.facts.get(one.instance)
        text = one.streams if isinstance(one.streams, Missing) else one.streams.topology
        if isinstance(one.streams, Missing) or isinstance(text, Missing) or not isinstance(facts, FactsReading):
            versions = []
            break
        versions.append(Described(one.instance, one.streams.version, one.instance, text, of_a_release(facts.read)))
    return defects_that_bite(found.reading, found.declared, tuple(versions), upgrade_path_rules())


def named_defects(entry: Application, libraries: Iterable[str]) -> str:
    """The known defects of the releases that an application was seen to run, by name; empty if there are none.

    Only the fleet entry is known: what else a defect needs is left to `readiness`, which reads the program.
    """
    releases, facts, rules = (
        sorted({one for one in libraries if Release.known(one)}),
        entry_facts(entry.declared()),
        upgrade_path_rules(),
    )
    found = [one for text in releases for one in defect_findings(Release(text), None, facts, rules)]
    certain = ", ".join(dict.fromkeys(one.id for one in found if not may_apply(one)))
    if not found:
        return ""
    some = len({one.id for one in found if may_apply(one)})
    more = f"{some} more" if certain else str(some)
    return (
        f"known defects of {' and '.join(releases)}: {certain or 'none is certain'}; {more} may apply: "
        f"kstreams-runbooks readiness {entry.name}"
    )
