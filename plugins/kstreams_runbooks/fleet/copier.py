"""A copier as its file declares it: the shipped program, or a team's own, in front of control topics."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator, model_validator

from kstreams_runbooks.fleet.declarations import Application, ProcessingGuarantee
from kstreams_runbooks.fleet.deployers.copier import NOT_AS_DEPLOYED, CopierDeployerSettings
from kstreams_runbooks.fleet.output_semantics import DeclaredOutput
from kstreams_runbooks.fleet.settable import SettableKey
from kstreams_runbooks.fleet.values import KafkaName, ReleaseName, Topics, Words, YesNoUnknownField, distinct
from kstreams_runbooks.model.copying import CopierDelivery


def _meaningless(_: Any) -> None:
    raise ValueError("has no meaning for a copier, which copies the records of its inputs and does no more; remove it")


def _follows(_: Any) -> None:
    raise ValueError("follows from `program: topic-copier` and its routes; remove it")


# For a field of another application. A default is not validated, so only what a file has is refused.
_NOT_OF_A_COPIER: Final = BeforeValidator(_meaningless)
_FOLLOWS: Final = BeforeValidator(_follows)
_NoTopics = Annotated[Topics, _NOT_OF_A_COPIER]
_NoAnswer = Annotated[YesNoUnknownField, _NOT_OF_A_COPIER]


class Copier(Application):
    """The part that every copier has. Runbooks of the applications behind it stop and start it."""

    kind: Literal["copier"] = Field(description="copier: it copies its inputs to its outputs, record by record")
    application_id: KafkaName = Field(description="its consumer group")
    inputs: Topics = Field(min_length=1, description="topics that it reads")
    outputs: Topics = Field(min_length=1, description="control topics that it writes, which applications read")
    delivery: CopierDelivery = Field(
        description="exactly_once, if it writes and commits in one transaction; at_least_once, if a kill may make it "
        "repeat records"
    )
    control: _NoTopics = ()
    rule_topics: _NoTopics = ()
    input_settings: Annotated[dict[Words, KafkaName], _NOT_OF_A_COPIER] = Field(default_factory=dict)
    clean_up: Annotated[dict[SettableKey, Words], _NOT_OF_A_COPIER] = Field(default_factory=dict)
    table_aggregations: _NoAnswer = "no"
    foreign_key_joins: _NoAnswer = "no"
    output_semantics: Annotated[dict[KafkaName, DeclaredOutput], _NOT_OF_A_COPIER] = Field(default_factory=dict)
    punctuators: Annotated[tuple[Words, ...], _NOT_OF_A_COPIER] = ()
    green_of: Annotated[Words | None, _NOT_OF_A_COPIER] = None
    green_outputs: Annotated[dict[KafkaName, KafkaName], _NOT_OF_A_COPIER] = Field(default_factory=dict)
    effects_twice: Annotated[str | None, _NOT_OF_A_COPIER] = None

    @property
    def reads_committed(self) -> bool:
        """Whether it never reads records of aborted transactions: as it copies."""
        return self.delivery == "exactly_once"

    @field_validator("outputs")
    @classmethod
    def _apart(cls, outputs: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        if both := sorted({*outputs} & {*info.data.get("inputs", ())}):
            raise ValueError(f"names {both[0]}, which is one of its inputs; a copier writes other topics than it reads")
        return outputs


class AsDeployed(Copier):
    """A team's own program: runbooks only stop and start it, and none is about it alone."""

    deployer: CopierDeployerSettings = Field(description="how its instances are stopped and started")
    libraries: Annotated[dict[ReleaseName, Words], NOT_AS_DEPLOYED] = Field(default_factory=dict)
    processing_guarantee: Annotated[ProcessingGuarantee, _NOT_OF_A_COPIER] = "unknown"

    @property
    def as_deployed(self) -> bool:
        """It is."""
        return True

    @property
    def client_ids(self) -> Mapping[str, str]:
        """The declared client.id of each instance that has one."""
        return {one.name: one.client_id for one in self.deployer.instances if one.client_id}


class TopicCopier(Copier):
    """The shipped program: an application of Kafka Streams, with releases, metrics and a topology of its own."""

    program: Literal["topic-copier"] = Field(description="topic-copier: the shipped program (docs/topic_copier.md)")
    routes: dict[KafkaName, KafkaName] = Field(
        min_length=1,
        description="the setting `routes` of the program: each topic that it reads, with its control topic",
    )
    inputs: Annotated[Topics, _FOLLOWS] = ()
    outputs: Annotated[Topics, _FOLLOWS] = ()
    delivery: Annotated[CopierDelivery, _FOLLOWS] = "exactly_once"
    processing_guarantee: Annotated[ProcessingGuarantee, _FOLLOWS] = "exactly_once_v2"

    @property
    def route_pairs(self) -> tuple[tuple[str, str], ...]:
        """Each topic that it reads, with the one that it writes."""
        return tuple(self.routes.items())

    @field_validator("routes")
    @classmethod
    def _in_one_route(cls, routes: dict[str, str]) -> dict[str, str]:
        distinct((*routes, *routes.values()))
        return routes

    @model_validator(mode="after")
    def _of_its_routes(self) -> Self:
        # A frozen model, and both follow from one of its fields.
        object.__setattr__(self, "inputs", tuple(self.routes))
        object.__setattr__(self, "outputs", tuple(self.routes.values()))
        return self
