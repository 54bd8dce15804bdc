"""The abilities of a deployer, as it declares them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Abilities:
    """`instances`: it can read deployed instances. `topology`: it can print the topology description of a release.

    `topology_settings`: it prints it with the settings that a runbook sets, else without them. `once`: a start can have
    settings of its own. `stays_stopped`: as its declaration states, nothing else starts an instance that was stopped;
    only for what it cannot report itself.

    `keeps_state`: an instance finds the local state of before at each start; None if that is neither seen nor declared.

    `state_dirs` are the instances with the state.dir that each program is declared to have, none without a declaration.
    `keeps_elsewhere`: what a program keeps in another directory is there at its next start.

    `clear`: local state can be cleared, by the deployer or by a person at its request; `clear_directories`: single task
    directories as well; `keeps_aside`: it can be moved instead, as for stores that the form names. `act`: its mutating
    calls take effect; without it a person has to act.
    """

    instances: bool
    topology: bool
    clear: bool
    act: bool
    clear_directories: bool
    topology_settings: bool = False
    once: bool = False
    stays_stopped: bool = False
    keeps_state: bool | None = True
    state_dirs: tuple[tuple[str, str], ...] = ()
    keeps_elsewhere: bool = True
    keeps_aside: bool = True
