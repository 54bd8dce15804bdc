"""What owners declare of an output: how two sides of an application are compared in it (docs/compare_outputs.md)."""

from typing import Annotated, Any

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from kstreams_runbooks.fleet.values import FleetModel, Words, distinct
from kstreams_runbooks.model.json_paths import PARTS, PATH
from kstreams_runbooks.model.output_classes import OutputKind, OutputSemantics, SideMode


def _paths(values: tuple[str, ...]) -> tuple[str, ...]:
    for path in values:
        if not PATH.fullmatch(path):
            raise ValueError(f"has {path}, which is not a path; give one such as $.event or $.lines[*].card")
    return distinct(values)


def _masks(values: tuple[str, ...]) -> tuple[str, ...]:
    _paths(tuple(value for value in values if value not in PARTS))
    return distinct(values)


class DeclaredOutput(FleetModel):
    """The semantics of one output, as far as no fact of the program shows them."""

    compare: SideMode | None = Field(
        default=None, description="latest (the last value of each key) or windows (each key once); default: by facts"
    )
    ignore: Annotated[tuple[Words, ...], AfterValidator(_paths)] = Field(
        default=(), description="JSON paths of values that the last writer decides, such as $.event: not compared"
    )
    kind: OutputKind | None = Field(
        default=None,
        alias="class",
        description="exact, exact_without_fields, late_sensitive, wall_clock or not_comparable, if code alone decides",
    )
    because: Words | None = Field(default=None, validate_default=True, description="why; needed with class")
    mask: Annotated[tuple[Words, ...], AfterValidator(_masks)] = Field(
        default=OutputSemantics("").mask,
        description="what examples in evidence leave out: key, value, headers, fields or a JSON path; [] shows all",
    )

    @field_validator("because")
    @classmethod
    def _of_class(cls, value: Any, info: ValidationInfo) -> Any:
        if value is None and info.data.get("kind") is not None:
            raise ValueError("is missing: a declared class needs its reason; write what the code does")
        return value

    def semantics(self, topic: str) -> OutputSemantics:
        """The same as a value."""
        return OutputSemantics(topic, self.compare, self.ignore, self.kind, self.because or "", self.mask)
