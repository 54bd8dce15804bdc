"""The parts of a fleet entry that decisions need: a value, kept as evidence, from which they can be made again."""

from dataclasses import dataclass

from kstreams_runbooks.model.copying import AS_DEPLOYED
from kstreams_runbooks.model.output_classes import OutputSemantics


@dataclass(frozen=True, slots=True)
class DeclaredApplication:
    """The parts of an application's declaration that decisions look at.

    `control` are those of its inputs that a copier writes, which can be stopped; `rule_topics` are topics whose records
    change how it processes. `input_settings` are its own settings that name inputs, each with the input. `copies`: it
    is a copier, `consumes`: any other group; `as_deployed`: one of which only the processes and the group are read.
    `routes` are those of the shipped copier, from each topic to another one. `approver_ids` are the ids in Airflow of
    approvers that have one, by login. `output_semantics` are of its outputs, `punctuators` write by the clock.
    """

    name: str
    cluster: str
    application_id: str
    instances: tuple[str, ...]
    releases: tuple[str, ...]
    static_membership: bool
    uses: tuple[str, ...]
    production: bool
    four_eyes: bool
    automatic_approval: bool
    operators: tuple[str, ...]
    approvers: tuple[str, ...]
    zone: str
    limits: tuple[tuple[str, float], ...]
    libraries: tuple[tuple[str, str], ...] = ()
    processing_guarantee: str = "unknown"
    outputs: tuple[str, ...] = ()
    control: tuple[str, ...] = ()
    rule_topics: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    input_settings: tuple[tuple[str, str], ...] = ()
    copies: bool = False
    as_deployed: bool = False
    routes: tuple[tuple[str, str], ...] = ()
    approver_ids: tuple[tuple[str, str], ...] = ()
    consumes: bool = False
    output_semantics: tuple[OutputSemantics, ...] = ()
    punctuators: tuple[str, ...] = ()

    def library(self, release: str) -> str:
        """The Kafka Streams release inside a declared release: the release's own name unless declared otherwise.

        What is only stopped and started has none: any release of it runs as it is deployed.
        """
        if self.as_deployed:
            return AS_DEPLOYED
        return dict(self.libraries).get(release, release)
