"""A copier as its file declares it: a team's own pass-through application in front of control topics."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator

from kstreams_runbooks.fleet.declarations import Application, ProcessingGuarantee
from kstreams_runbooks.fleet.deployers.copier import NOT_OF_A_COPIER, CopierDeployerSettings
from kstreams_runbooks.fleet.settable import SettableKey
from kstreams_runbooks.fleet.values import KafkaName, ReleaseName, Topics, Words, YesNoUnknownField
from kstreams_runbooks.model.copying import CopierDelivery

_NoTopics = Annotated[Topics, NOT_OF_A_COPIER]
_NoAnswer = Annotated[YesNoUnknownField, NOT_OF_A_COPIER]


class Copier(Application):
    """One copier. Runbooks of other applications stop and start it; none is about it alone."""

    kind: Literal["copier"] = Field(description="copier: it copies its inputs to its outputs, record by record")
    application_id: KafkaName = Field(description="its consumer group")
    inputs: Topics = Field(min_length=1, description="topics that it reads")
    outputs: Topics = Field(min_length=1, description="control topics that it writes, which applications read")
    delivery: CopierDelivery = Field(
        description="exactly_once, if it writes and commits in one transaction; at_least_once, if a kill may make it "
        "repeat records"
    )
    deployer: CopierDeployerSettings = Field(description="how its instances are stopped and started")
    control: _NoTopics = ()
    rule_topics: _NoTopics = ()
    clean_up: Annotated[dict[SettableKey, Words], NOT_OF_A_COPIER] = Field(default_factory=dict)
    libraries: Annotated[dict[ReleaseName, Words], NOT_OF_A_COPIER] = Field(default_factory=dict)
    table_aggregations: _NoAnswer = "no"
    foreign_key_joins: _NoAnswer = "no"
    punctuators: Annotated[tuple[Words, ...], NOT_OF_A_COPIER] = ()
    processing_guarantee: Annotated[ProcessingGuarantee, NOT_OF_A_COPIER] = "unknown"

    @property
    def reads_committed(self) -> bool:
        """Whether it never reads records of aborted transactions: as it copies."""
        return self.delivery == "exactly_once"

    @property
    def client_ids(self) -> Mapping[str, str]:
        """The declared client.id of each instance that has one."""
        return {one.name: one.client_id for one in self.deployer.instances if one.client_id}

    @field_validator("outputs")
    @classmethod
    def _apart(cls, outputs: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        if both := sorted({*outputs} & {*info.data.get("inputs", ())}):
            raise ValueError(f"names {both[0]}, which is one of its inputs; a copier writes other topics than it reads")
        return outputs
