"""A consumer as its file declares it: any program whose group reads outputs of applications, and is not one itself."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator

from kstreams_runbooks.fleet.declarations import Application, ProcessingGuarantee
from kstreams_runbooks.fleet.deployers.consumer import NOT_OF_A_CONSUMER, ConsumerDeployerSettings
from kstreams_runbooks.fleet.output_semantics import DeclaredOutput
from kstreams_runbooks.fleet.settable import SettableKey
from kstreams_runbooks.fleet.values import KafkaName, ReleaseName, Topics, Words, YesNoUnknownField
from kstreams_runbooks.model.copying import CopierDelivery


def _follows(_: Any) -> None:
    raise ValueError("follows from `delivery`, which a consumer declares in its place; remove it")


_FOLLOWS: Final = BeforeValidator(_follows)
_NoTopics = Annotated[Topics, NOT_OF_A_CONSUMER]
_NoAnswer = Annotated[YesNoUnknownField, NOT_OF_A_CONSUMER]


class Consumer(Application):
    """A group downstream of applications. No runbook is about it alone; a cutover moves it to other topics."""

    kind: Literal["consumer"] = Field(description="consumer: its group reads outputs of others (docs/consumers.md)")
    application_id: KafkaName = Field(description="its consumer group")
    inputs: Topics = Field(min_length=1, description="topics that its group reads")
    delivery: CopierDelivery = Field(
        description="exactly_once, if its results and its offsets are in one transaction; at_least_once, if a kill may "
        "make it process records again"
    )
    transactional_ids: tuple[Words, ...] = Field(
        default=(),
        validate_default=True,
        description="transactional.id of each of its producers, exactly; needed with exactly_once",
    )
    deployer: ConsumerDeployerSettings = Field(description="how its instances are stopped, changed and started")
    control: _NoTopics = ()
    rule_topics: _NoTopics = ()
    clean_up: Annotated[dict[SettableKey, Words], NOT_OF_A_CONSUMER] = Field(default_factory=dict)
    libraries: Annotated[dict[ReleaseName, Words], NOT_OF_A_CONSUMER] = Field(default_factory=dict)
    table_aggregations: _NoAnswer = "no"
    foreign_key_joins: _NoAnswer = "no"
    punctuators: Annotated[tuple[Words, ...], NOT_OF_A_CONSUMER] = ()
    processing_guarantee: Annotated[ProcessingGuarantee, _FOLLOWS] = "unknown"
    output_semantics: Annotated[dict[KafkaName, DeclaredOutput], NOT_OF_A_CONSUMER] = Field(default_factory=dict)
    green_of: Annotated[Words | None, NOT_OF_A_CONSUMER] = None
    green_outputs: Annotated[dict[KafkaName, KafkaName], NOT_OF_A_CONSUMER] = Field(default_factory=dict)
    effects_twice: Annotated[str | None, NOT_OF_A_CONSUMER] = None

    @field_validator("transactional_ids")
    @classmethod
    def _of_its_delivery(cls, value: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        delivery = info.data.get("delivery")
        if delivery == "exactly_once" and not value:
            raise ValueError(
                "is empty, so an open transaction of it would not be seen; name the transactional.id of each producer"
            )
        if delivery == "at_least_once" and value:
            raise ValueError(f"has {value[0]} with delivery at_least_once; remove it, or declare exactly_once")
        if twice := next((one for one in value if value.count(one) > 1), ""):
            raise ValueError(f"names {twice} twice; each producer has its own")
        return value

    @property
    def as_deployed(self) -> bool:
        """Only its processes and its group are read: it has neither metrics nor a topology."""
        return True

    @property
    def reads_committed(self) -> bool:
        """Whether it never reads records of aborted transactions: only as long as it delivers exactly once."""
        return self.delivery == "exactly_once"

    @property
    def client_ids(self) -> Mapping[str, str]:
        """The declared client.id of each instance that has one."""
        return {one.name: one.client_id for one in self.deployer.instances if one.client_id}
