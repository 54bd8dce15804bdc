"""The value of a setting in the main consumer of an instance, and where it is from."""

from collections.abc import Mapping
from dataclasses import dataclass

from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.releases.release import Release, within
from kstreams_runbooks.model.releases.settings import MAIN_CONSUMER, SettingCatalogue

SESSION, POLL = "session.timeout.ms", "max.poll.interval.ms"


@dataclass(frozen=True, slots=True)
class Sourced:
    """A number of milliseconds and its source, as the end of "45,000 ms, …"."""

    ms: int
    source: str


def main_consumer_ms(
    name: str, sources: Mapping[str, Mapping[str, str]], library: str, catalogue: SettingCatalogue
) -> Sourced | Missing:
    """The setting `name` of the main consumer, or the default of the release `library`; Missing has the reason.

    `sources` are settings by the words for their source: if two of them set one name, the first counts.
    """
    for prefix in MAIN_CONSUMER:
        for source, config in sources.items():
            if (value := config.get(f"{prefix}{name}")) is not None:
                ms = _number(value)
                if ms is None:
                    return Missing(f"{prefix}{name} is not a number of milliseconds, {source}")
                return Sourced(ms, source)
    release = Release.parse(library)
    defaults = [
        row.default
        for row in catalogue.rows
        if row.name == name and "consumer" in row.of and within(release, row.releases)
    ]
    default = None if not defaults or defaults[0] is None else _number(defaults[0])
    if default is None:
        return Missing(f"{name} is not set, and the default of Kafka Streams {library} is not known")
    return Sourced(default, f"the default of Kafka Streams {library}")


def _number(value: str) -> int | None:
    text = value.strip()
    return int(text) if text.isascii() and text.isdecimal() and len(text) < len(str(2**63)) else None
