"""One cluster and one application as their files declare them."""

from collections.abc import Mapping
from typing import Annotated, Final, Literal, Self

from pydantic import Field, ValidationError, ValidationInfo, field_validator, model_validator

from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.fleet.approvers import Approver, Approvers, login_of
from kstreams_runbooks.fleet.deployers.kinds import DeployerSettings
from kstreams_runbooks.fleet.limits import Limits
from kstreams_runbooks.fleet.output_semantics import DeclaredOutput
from kstreams_runbooks.fleet.settable import SettableKey
from kstreams_runbooks.fleet.values import (
    FleetModel,
    KafkaName,
    People,
    Principal,
    ReleaseName,
    Topics,
    WholeNumber,
    Words,
    YesNoUnknownField,
    Zone,
    distinct,
)
from kstreams_runbooks.model.fleet_entry import DeclaredApplication
from kstreams_runbooks.model.releases.release import Release

ProcessingGuarantee = Literal["at_least_once", "exactly_once", "exactly_once_beta", "exactly_once_v2", "unknown"]

ApplicationKind = Literal["streams", "copier", "consumer"]
# A reason of some words behind the acceptance.
ACCEPTED_TWICE: Final = r"^accepted, because \S.{2,}$"


class Cluster(FleetModel):
    """One Kafka cluster."""

    name: Words = Field(description="stem of the file")
    connection: Words = Field(description="id of the Airflow connection (type kafka) with the bootstrap servers")
    queue: Words | None = Field(
        default=None, description="queue of the workers near the cluster; null: the default queue"
    )
    max_concurrent_runs: WholeNumber = Field(
        default=1, ge=1, description="runs that may change something in this cluster at the same time"
    )
    zone: Zone = Field(default="UTC", description="IANA time zone of its owners")
    principal: Principal | None = Field(
        default=None,
        description="login of the connection as the brokers name it, such as User:CN=runbooks; needed for a "
        "certificate or a token, whose name only they know",
    )


class Application(FleetModel):
    """One Kafka Streams application. Internal topics are not declared: they follow from the running topology."""

    name: Words = Field(description="stem of the file")
    kind: ApplicationKind = Field(
        default="streams", description="streams, copier (docs/copiers.md) or consumer (docs/consumers.md)"
    )
    application_id: KafkaName = Field(
        description="application.id: the consumer group and the prefix of internal topics"
    )
    cluster: Words = Field(description="name of a cluster's file, without .yaml")
    inputs: Topics = Field(min_length=1, description="topics that it reads and other programs write")
    outputs: Topics = Field(default=(), description="topics that it writes for others")
    output_semantics: dict[KafkaName, DeclaredOutput] = Field(
        default_factory=dict,
        description="of an output, what no fact shows: how two sides are compared in it (docs/compare_outputs.md)",
    )
    control: Topics = Field(
        default=(),
        description="control topics: those of its inputs that a copier writes, which can be stopped",
    )
    rule_topics: Topics = Field(default=(), description="topics whose records change how it processes")
    deployer: DeployerSettings = Field(description="how its instances are stopped, changed and started")
    input_settings: dict[Words, KafkaName] = Field(
        default_factory=dict,
        description="its own settings that name its inputs, each with the input: control_topic_flush swaps them",
    )
    clean_up: dict[SettableKey, Words] = Field(
        default_factory=dict,
        description="its own settings with which the program calls KafkaStreams#cleanUp before its start: "
        "reset_and_cleanup sets them for one start",
    )
    principal: Principal | None = Field(
        default=None,
        description="login of its instances as the brokers name it, such as User:orders; readiness compares its rights",
    )
    libraries: dict[ReleaseName, Words] = Field(
        default_factory=dict,
        description="Kafka Streams release inside a release that is not named after it; any other is its own name",
    )
    owner: Words = Field(description="team that answers for it")
    zone: Zone = Field(default="UTC", description="IANA time zone of its owner, for times in approvals")
    operators: People = Field(default=(), description="logins that may trigger runs")
    production: bool = Field(default=True, description="whether it is production")
    automatic_approval: bool = Field(
        default=False, description="whether plans are approved without a person; never in production"
    )
    four_eyes: bool = Field(
        default_factory=lambda given: given.get("production", True) and not given.get("automatic_approval", False),
        description="whether another person than the one who triggered has to approve (default: as production)",
    )
    approvers: Approvers = Field(
        default=(),
        validate_default=True,
        description="logins that may approve, or {login, id} with the id of that user in Airflow; needed unless "
        "approval is automatic",
    )
    static_membership: bool = Field(default=False, description="whether its instances set group.instance.id")
    table_aggregations: YesNoUnknownField = Field(
        default="unknown", description="whether it aggregates a table (KTable.groupBy); unknown counts as yes (KIP-904)"
    )
    foreign_key_joins: YesNoUnknownField = Field(
        default="unknown", description="whether it joins tables by foreign key; unknown counts as yes (KIP-213)"
    )
    punctuators: tuple[Words, ...] = Field(
        default=(), description="wall-clock punctuators that write, by any name: they may do so without any input"
    )
    processing_guarantee: ProcessingGuarantee = Field(
        default="unknown",
        description="its processing.guarantee; unknown stops a run if the upgrade path depends on it",
    )
    limits: Limits = Field(default_factory=Limits, description="limits that differ from the defaults")
    green_of: Words | None = Field(
        default=None,
        description="the application next to which this one starts, to take over from it (docs/blue_green_start.md)",
    )
    green_outputs: dict[KafkaName, KafkaName] = Field(
        default_factory=dict,
        description="with `green_of`: each of its outputs, with the output of that application that it replaces",
    )
    effects_twice: Annotated[str, Field(pattern=ACCEPTED_TWICE)] | None = Field(
        default=None,
        description="with `green_of`: `accepted, because …` if what its code does outside of Kafka may happen twice",
    )

    @field_validator("green_outputs")
    @classmethod
    def _each_for_another(cls, value: dict[str, str], info: ValidationInfo) -> dict[str, str]:
        own = info.data.get("outputs", tuple(value))
        if strange := sorted(set(value) - set(own)):
            raise ValueError(f"names {strange[0]}, which is not one of its outputs; correct it")
        distinct((*value, *value.values()))
        return value

    @model_validator(mode="after")
    def _green_alone(self) -> Self:
        if self.green_of is None and (self.green_outputs or self.effects_twice):
            raise ValueError(
                "has green_outputs or effects_twice without green_of; name the application, or remove them"
            )
        return self

    @field_validator("libraries")
    @classmethod
    def _of_releases(cls, value: dict[str, str], info: ValidationInfo) -> dict[str, str]:
        releases = info.data["deployer"].releases if "deployer" in info.data else value
        if strange := sorted(set(value) - set(releases)):
            raise ValueError(
                f"names {strange[0]}, which is not one of the deployer's releases; remove it or declare it"
            )
        for release, library in value.items():
            if not Release.known(library):
                raise ValueError(f"has {library!r} for {release}, which is not a Kafka release; give one such as 4.3.1")
        return value

    @field_validator("input_settings")
    @classmethod
    def _of_inputs(cls, value: dict[str, str], info: ValidationInfo) -> dict[str, str]:
        inputs = info.data.get("inputs", tuple(value.values()))
        seen: dict[str, str] = {}
        for setting, topic in value.items():
            if topic not in inputs:
                raise ValueError(f"has {topic} for {setting}, which is not one of its inputs; correct it")
            if topic in seen:
                raise ValueError(
                    f"has {topic} for both {seen[topic]} and {setting}; an input that two settings name cannot be "
                    "swapped, leave both out"
                )
            seen[topic] = setting
        return value

    @field_validator("output_semantics")
    @classmethod
    def _of_outputs(cls, value: dict[str, DeclaredOutput], info: ValidationInfo) -> dict[str, DeclaredOutput]:
        if strange := sorted(value.keys() - {*info.data.get("outputs", value)}):
            raise ValueError(f"names {strange[0]}, which is not one of its outputs; correct it")
        return value

    @field_validator("automatic_approval")
    @classmethod
    def _not_in_production(cls, value: bool, info: ValidationInfo) -> bool:
        if value and info.data.get("production", True):
            raise ValueError("is only allowed if production is false; remove it, or declare production: false")
        return value

    @field_validator("four_eyes")
    @classmethod
    def _not_both(cls, value: bool, info: ValidationInfo) -> bool:
        if value and info.data.get("automatic_approval"):
            raise ValueError("contradicts automatic_approval: true; remove one of them")
        return value

    @field_validator("approvers")
    @classmethod
    def _somebody(cls, value: Approvers, info: ValidationInfo) -> Approvers:
        if not value and not info.data.get("automatic_approval"):
            raise ValueError("is empty, so no plan could ever be approved; name at least one login")
        return value

    @property
    def copies(self) -> bool:
        """Whether it is a copier."""
        return self.kind == "copier"

    @property
    def consumes(self) -> bool:
        """Whether it is a consumer: its group reads outputs of applications, and is not one itself."""
        return self.kind == "consumer"

    @property
    def as_deployed(self) -> bool:
        """Whether only its processes and its group are read: a copier or a consumer without metrics and topology."""
        return False

    @property
    def route_pairs(self) -> tuple[tuple[str, str], ...]:
        """Each topic that the shipped copier reads, with the one that it writes; none of any other entry."""
        return ()

    @property
    def reads_committed(self) -> bool:
        """Whether it never reads records of aborted transactions; False if its guarantee is unknown."""
        return self.processing_guarantee.startswith("exactly_once")

    @property
    def client_ids(self) -> Mapping[str, str]:
        """The declared client.id of the instances of a copier, by instance; a Streams client reports its own."""
        return {}

    @property
    def uses(self) -> tuple[str, ...]:
        """Features that version rules name: used, or of unknown use."""
        return tuple(name for name in ("table_aggregations", "foreign_key_joins") if getattr(self, name) != "no")

    def declared(self, overrides: Mapping[str, float] | None = None) -> DeclaredApplication:
        """The entry as decisions see it, with the limits that a run's form overrides; BadInput for an invalid limit."""
        return DeclaredApplication(
            name=self.name,
            cluster=self.cluster,
            application_id=self.application_id,
            instances=tuple(instance.name for instance in self.deployer.instances),
            releases=tuple(self.deployer.releases),
            static_membership=self.static_membership,
            uses=self.uses,
            production=self.production,
            four_eyes=self.four_eyes,
            automatic_approval=self.automatic_approval,
            operators=self.operators,
            approvers=tuple(map(login_of, self.approvers)),
            approver_ids=tuple((one.login, one.id) for one in self.approvers if isinstance(one, Approver)),
            zone=self.zone,
            # Always floats: the plan's digest is taken over their JSON, and 10 and 10.0 are not the same text.
            limits=tuple((name, float(value)) for name, value in self._limits(overrides or {})),
            processing_guarantee=self.processing_guarantee,
            outputs=self.outputs,
            output_semantics=tuple(one.semantics(topic) for topic, one in sorted(self.output_semantics.items())),
            punctuators=self.punctuators,
            control=self.control,
            rule_topics=self.rule_topics,
            libraries=tuple(sorted(self.libraries.items())),
            inputs=self.inputs,
            input_settings=tuple(sorted(self.input_settings.items())),
            copies=self.copies,
            consumes=self.consumes,
            as_deployed=self.as_deployed,
            routes=self.route_pairs,
        )

    def _limits(self, overrides: Mapping[str, float]) -> Limits:
        try:
            return Limits.model_validate({**self.limits.model_dump(), **overrides})
        except ValidationError as error:
            from kstreams_runbooks.fleet.problems import explained

            raise BadInput(f"limits of {self.name}: {explained(error, Limits, dict(overrides))}") from None
