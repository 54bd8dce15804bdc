"""Settings of a plan that may change the topology, and what its descriptions do not show of them."""

from kstreams_runbooks.decide.releases.settings import may_change_the_topology
from kstreams_runbooks.model.releases.settings import SettingCatalogue
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.verdicts import Finding, Severity

_SOURCE = "docs/deployers.md, settings of a description"


def changed_settings(plan: Plan) -> set[str]:
    """Names of the settings with which an instance of the first side ends on another value than it has at the start."""
    if not (bounces := plan.of_side("").bounces):
        return set()
    after = set(bounces[-1].settings)
    return {name for one in plan.facts.at_start for name, _ in after ^ set(one.settings)}


def unseen_changes(plan: Plan, catalogue: SettingCatalogue) -> tuple[str, ...]:
    """The sentence about settings that change and may change the topology, for a command that takes no settings.

    Settings that stay are in none of the two descriptions that are compared: they are a finding.
    """
    if not (names := may_change_the_topology(changed_settings(plan), catalogue)):
        return ()
    return (
        f"whether {', '.join(names)} changes the topology is not known: the topology command takes no settings; add "
        "their placeholder (docs/deployers.md), then trigger a new run",
    )


def undescribed_settings(
    plan: Plan, catalogue: SettingCatalogue, *, topology_settings: bool, same_text: bool = False
) -> tuple[Finding, ...]:
    """A finding if settings of the plan may change the topology and no description shows it.

    `topology_settings`: the deployer describes a release with its settings. `same_text`: the description with them is
    the present one.
    """
    targets = [one.target for one in plan.of_side("").bounces] + [one.target for one in plan.facts.at_start]
    every = {name for target in targets for name, _ in target.settings}
    if topology_settings:
        names = may_change_the_topology(changed_settings(plan), catalogue) if same_text else ()
        said = "change nothing in the topology description; what it does not show, such as windows, was not compared"
    else:
        names = may_change_the_topology(every, catalogue)
        said = (
            "may change what the application reads and writes, and every release was described without them: the "
            f"topology command takes no settings; add their placeholder (docs/deployers.md), or {_answer(plan)}"
        )
    if not names:
        return ()
    severity: Severity = "info" if topology_settings else "warning"
    message = f"{', '.join(names)}: {said}"
    return (Finding("settings-may-change-the-topology", severity, plan.application, message, _SOURCE),)


def _answer(plan: Plan) -> str:
    if plan.at_once:
        return "check that the topics exist that it then reads and writes"
    return "use stop_and_restart if they do"
