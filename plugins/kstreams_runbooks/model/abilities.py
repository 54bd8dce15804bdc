"""What a deployer can do, as it says itself."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Abilities:
    """`instances`: it can see what is deployed. `topology`: it can print the topology description of a release.

    `clear`: local state can be cleared, by the deployer or by a person whom it asks. `act`: its mutating calls do
    something; without it a person has to be asked.
    """

    instances: bool
    topology: bool
    clear: bool
    act: bool
