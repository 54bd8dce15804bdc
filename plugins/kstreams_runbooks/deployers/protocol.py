"""What every deployer does, and what a runbook relies on.

Small enough that a command or a person can stand behind it. Rules for all of them:

- Every call is safe to repeat: stopping what is stopped, starting what runs, writing what is written already and
  clearing what is clear change nothing and succeed.
- Errors are of our own tree, one sentence, never with a credential: BadInput for an unknown instance or release,
  WriteRefused where a guard says no, Unreachable where the system behind does not answer, Refused where it answered
  and could not do it.
- In a dry run the mutating calls run their guards, add one sentence to `would_write` and do nothing.
- One that does not act itself (`abilities.act` is False) refuses every mutating call (WriteRefused). A step says
  `request` to a person instead, and waits until `instances` shows that it was done.
"""

from typing import Protocol

from kstreams_runbooks.deployers.requests import Wish
from kstreams_runbooks.model.abilities import Abilities
from kstreams_runbooks.model.readings.readings import Deployment
from kstreams_runbooks.model.target import Target


class Deployer(Protocol):
    """Looks at and changes the declared instances of one application."""

    would_write: list[str]

    @property
    def abilities(self) -> Abilities:
        """What it can do as it is declared; what it cannot, a runbook must not be planned on."""

    def instances(self) -> tuple[Deployment, ...]:
        """Every declared instance, in the declared order: one look, no waiting.

        `applied` may be True only where the running process certainly read what is declared now; a doubt is Missing.
        `settings` are what a runbook set for the next start: where it sets nothing, what the application's own
        configuration has is in effect and is not shown. The value of anything else that stands among them is hidden,
        it may be a secret.
        `obstacles` say why `apply` would refuse whatever it is given.
        """

    def check_apply(self, instance: str, target: Target) -> None:
        """Refuse here what `apply` would refuse, before anything is stopped for it; changes nothing."""

    def check_clear_state(self, instance: str) -> None:
        """Refuse here what `clear_state` would refuse of a stopped instance, before it is stopped for it."""

    def apply(self, instance: str, target: Target) -> None:
        """Declare release and settings of one instance for its next start: all of it or nothing.

        Afterwards exactly the settings of `target` are set. It may be called while the instance runs: nothing happens
        to the process, and `applied` is False until it is started again.
        """

    def stop(self, instance: str) -> None:
        """Ask the instance to stop and return when its process is gone; Refused where it does not go in time."""

    def start(self, instance: str) -> None:
        """Start the instance and return when its process is up: ready or not is for a gate to say."""

    def clear_state(self, instance: str) -> None:
        """Delete the local state of the application, of this instance only; WriteRefused while its process lives."""

    def topology(self, target: Target) -> str:
        """Text of the topology description (`Topology#describe`) of a target, without starting an instance.

        A topology command gets the release alone. No deployer passes the settings of `target` to it today, so the
        description is of the release with the settings that the command itself has.
        """

    def manual_commands(self, instance: str, target: Target, *, clear_state: bool = False) -> list[str]:
        """Commands with which a person brings one instance to `target` without this program.

        With `clear_state` its local state is deleted in between.
        """

    def request(self, wish: Wish, instance: str, target: Target | None = None) -> str:
        """What a person is asked for, in one sentence: `deploy` needs a target, the others do not."""
