"""One version of an application as it was found: its description, and what stands beside it."""

from dataclasses import dataclass

from kstreams_runbooks.model.declaration import Declaration


@dataclass(frozen=True, slots=True)
class Described:
    """The text of a description with where it came from.

    `release` is the deployed name, empty where the text is of none; `library` the Kafka Streams release inside it,
    empty where nobody says; `declared` is None where no file of that release declares anything.
    """

    release: str
    library: str
    source: str
    text: str
    declared: Declaration | None = None
