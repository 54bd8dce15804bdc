"""What every deployer does, and what a runbook relies on.

Small enough for a command or a person to implement it. Rules for all deployers:

- Every call is safe to repeat: to stop a stopped instance, start a running one, write the same values or clear an empty
  state changes nothing and succeeds.
- Errors are of our own tree, one sentence, never with a credential: BadInput for an unknown instance or release,
  WriteRefused if a guard refuses, Unreachable if the system behind does not answer, Refused if it answered and could
  not do it.
- In a dry run the mutating calls run their guards, add one sentence to `would_write` and do nothing.
- A deployer that does not act itself (`abilities.act` is False) refuses every mutating call (WriteRefused). A step
  sends `request` to a person instead, and waits until `instances` shows the change.
"""

from collections.abc import Mapping
from typing import Protocol

from kstreams_runbooks.deployers.requests import Wish
from kstreams_runbooks.model.abilities import Abilities
from kstreams_runbooks.model.local_state import Directories, FileTimes, TaskDirectories
from kstreams_runbooks.model.readings.readings import Deployment, Missing
from kstreams_runbooks.model.target import RunbookSettings, Target
from kstreams_runbooks.model.topology.declaration import Declaration


class Deployer(Protocol):
    """Reads and changes the declared instances of one application."""

    would_write: list[str]

    @property
    def abilities(self) -> Abilities:
        """What it can do as declared; a runbook must not plan anything else."""

    def instances(self) -> tuple[Deployment, ...]:
        """Every declared instance, in the declared order: one reading, no waiting.

        `applied` may be True only if the running process certainly read what is declared now; a doubt is Missing.
        `settings` are what a runbook set for the next start. If it sets nothing, the application's own configuration is
        in effect and is not shown. The value of any other setting among them is hidden: it may be a secret. `obstacles`
        are the reasons why `apply` would refuse any target.
        """

    def check_apply(self, instance: str, target: Target) -> None:
        """Refuse what `apply` would refuse, before anything is stopped for it; changes nothing."""

    def check_build(self, instance: str, release: str, build: str) -> None:
        """Refuse to go back to a release whose build is now another one than `build`; changes nothing.

        `build` is a value that `Deployment.build` had.
        """

    def check_clear_state(self, instance: str, directories: Directories = ()) -> None:
        """Refuse what `clear_state` would refuse of a stopped instance, before the instance is stopped for it."""

    def apply(self, instance: str, target: Target) -> None:
        """Declare release and settings of one instance for its next start: all of it or nothing.

        Afterwards exactly the settings of `target` are set. It may be called while the instance runs: nothing happens
        to the process, and `applied` is False until it is started again.
        """

    def check_start(self, instance: str, once: RunbookSettings) -> None:
        """Refuse what `start` would refuse of these settings, before the instance is stopped for it."""

    def stop(self, instance: str) -> None:
        """Ask the instance to stop and return when its process is gone; Refused if it does not stop in time."""

    def start(self, instance: str, once: RunbookSettings = ()) -> None:
        """Start the instance and return when its process is up; a gate decides whether it is ready.

        `once` are settings for this start alone, over all others. They are not kept: the next start does not have
        them, and neither `settings` nor `applied` of the instance show them. WriteRefused for an instance that runs
        already, because they would have no effect.
        """

    def clear_state(self, instance: str, directories: Directories = ()) -> None:
        """Delete the local state of the application, of this instance only; WriteRefused while its process lives.

        With `directories` only these task directories, as `TaskDirectories.names`; it ignores those that are absent.
        """

    def log_end(self, instance: str) -> str:
        """The last error in the instance's log, else its last line, as a clause (deployers/scripts.py, `end_of_log`).

        Empty if nothing reads its log. It only explains: no decision depends on it.
        """

    def kept_aside(self, instance: str) -> str:
        """The directory to which `clear_state` moves what it takes away; empty if it deletes that."""

    def state_sizes(self, instance: str) -> Mapping[str, int] | Missing:
        """Bytes of the local state by task directory, named as `TaskDirectories.names`; Missing if it is not seen."""

    def state_times(self, instance: str) -> Mapping[str, FileTimes] | Missing:
        """When the local state last changed, by task directory as `state_sizes`; Missing if that is not seen."""

    def topology(self, target: Target) -> str:
        """Text of the topology description (`Topology#describe`) of a target, without starting an instance.

        With `abilities.topology_settings` it is the topology of the release with the settings of `target`. Otherwise
        the command gets the release alone, and describes it with the settings that it has itself.
        """

    def topology_target(self, target: Target) -> Target:
        """What of a target its description depends on: two targets that are equal here have one description."""

    def facts(self, target: Target, *, started: bool = False) -> Declaration | None:
        """The topology facts that the same command prints with the description, None if it prints the description only.

        `started`: with every setting of the target, `upgrade.from` too, as a start gets them: for what the library
        refuses. Inconclusive for facts that cannot be used.
        """

    def manual_commands(self, instance: str, target: Target, *, clears: TaskDirectories | None = None) -> list[str]:
        """Commands with which a person brings one instance to `target` without this program.

        They delete the local state `clears` in between: all of it if that names no directory.
        """

    def request(
        self,
        wish: Wish,
        instance: str,
        target: Target | None = None,
        directories: Directories = (),
        once: RunbookSettings = (),
    ) -> str:
        """The request to a person, in one sentence: `deploy` needs a target, `clear_state` may name directories.

        `once` are settings for the one start of `start` or `deploy`.
        """
