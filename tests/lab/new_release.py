"""`make new-release RELEASE=A [AFTER=B]`: what a release of Kafka Streams has otherwise, as a draft of rows.

It reads the jars of both releases and the programs of tests/apps/topologies, and prints YAML: where a row goes, what
was read, and in which class. A person confirms each row (docs/new_release.md); nothing is written. AFTER is the newest
release that the rules know, or the one before RELEASE.

Exit codes: 0 printed; 1 a jar or a program could not be read; 2 bad input.
"""

import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.releases.release import Release, within
from kstreams_runbooks.rules import release_settings, upgrade_path_rules

from lab.release_settings import TAKEN, TARGET, Said, fetch, read, refusals
from lab.topology_facts import SOURCES, class_path, document, java

_VALUES = "upgrade.from"
# A value in the enum of StreamsConfig: UPGRADE_FROM_34 is 3.4, UPGRADE_FROM_0102 is 0.10.2.
_READ = re.compile(rb"UPGRADE_FROM_(\d+)")
_CLASS = re.compile(r"^(?:public|protected) .*?(?:class|interface|enum|record) ([\w.$]+)")
# Text of one run: addresses of objects, numbers of lambdas.
_UNSTEADY = re.compile(r"@[0-9a-f]+|\$\$Lambda[^\s)]*")
# Packages that Kafka documents for programs; the others change without a word.
_API = tuple(
    f"org.apache.kafka.{one}."
    for one in (
        "streams",
        "clients.admin",
        "clients.consumer",
        "clients.producer",
        "common.config",
        "common.errors",
        "common.header",
        "common.metrics",
        "common.serialization",
        "common.utils",
    )
)
# The fields of rows that have ranges of releases.
_RANGES = ("running", "target", "releases", "brokers")
_LONGEST = 120
# Names of classes in one command.
_AT_ONCE = 500

# name of a public class: its public members, as javap prints them
Public = Mapping[str, frozenset[str]]


def before(release: str, after: str | None) -> tuple[str, str]:
    """The release to compare with, and the release itself; BadInput for one that Kafka Streams cannot have."""
    known = upgrade_path_rules().releases
    if not Release.known(release) or release.count(".") < 2:
        raise BadInput(f"RELEASE={release}: expected a release such as {known[-1]}")
    older = [one for one in known if one < Release(release)]
    if after is None and not older:
        raise BadInput(f"RELEASE={release}: no release is older; give AFTER, one of {known[0]} to {known[-1]}")
    if after is not None and Release(after) not in known:
        raise BadInput(f"AFTER={after}: expected one of {known[0]} to {known[-1]}")
    return after or older[-1].text, release


def settings(said: Said, old: str, new: str) -> Iterator[dict[str, Any]]:
    """Settings that are new, gone or otherwise; `make settings` prints the rows themselves."""
    for name, by_part in sorted(said.items()):
        for part in sorted({part for part, _ in by_part}):
            was, now = by_part.get((part, old)), by_part.get((part, new))
            if was == now:
                continue
            if was is None or now is None:
                yield {"name": name, "of": part, "is": "new" if was is None else "gone", **(now or was or {})}
                continue
            differing = sorted(key for key in was.keys() | now.keys() if was.get(key) != now.get(key))
            yield {
                "name": name,
                "of": part,
                "differs": {key: _between(was.get(key), now.get(key)) for key in differing},
            }


def upgrade_from(said: Said, new: str) -> dict[str, Any]:
    """The row of rules/releases.yaml; a release without the setting has no values."""
    values = said.get(_VALUES, {}).get(("streams", new), {}).get("values", [])
    row: dict[str, Any] = {"releases": [Release(new).minor if new.endswith(".0") else new]}
    if values:
        row |= {"lowest": values[0], "highest": max(values, key=lambda value: Release(value).numbers)}
    return row | {"source": "StreamsConfig of this release (Maven Central)"}


def covering(new: str) -> Iterator[str]:
    """The rows about releases whose ranges have an open end: they cover a new release before anybody has looked."""
    rules = upgrade_path_rules()
    rows: tuple[Any, ...] = (*rules.upgrades, *rules.downgrades, *rules.brokers, *rules.defects)
    for row in rows:
        ranges = [one for name in _RANGES for one in getattr(row, name, ())]
        if any(one.endswith("..") and within(Release(new), (one,)) for one in ranges):
            yield row.id


def read_in(jar: Path) -> dict[str, str]:
    """The classes of a jar that heed values of upgrade.from, and these values as the code has them."""
    found = {}
    with zipfile.ZipFile(jar) as classes:
        for name in sorted(classes.namelist()):
            if name.endswith(".class") and (values := {one.decode() for one in _READ.findall(classes.read(name))}):
                found[_dotted(name)] = " ".join(sorted(values))
    return {
        name: values for name, values in found.items() if not name.startswith("org.apache.kafka.streams.StreamsConfig")
    }


def public(folder: Path) -> Public:
    """The public classes of all jars of a folder; CalledProcessError if javap cannot read one."""
    found: dict[str, frozenset[str]] = {}
    for jar in sorted(folder.glob("*.jar")):
        with zipfile.ZipFile(jar) as classes:
            mine = [
                _dotted(one)
                for one in classes.namelist()
                if one.startswith("org/apache/kafka") and one.endswith(".class")
            ]
        printed = ""
        for first in range(0, len(mine), _AT_ONCE):
            command = ["javap", "-public", "-cp", str(jar), *mine[first : first + _AT_ONCE]]
            ran = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
            printed += ran.stdout
        name, members = "", set[str]()
        for line in printed.splitlines():
            if line.startswith("Compiled from") or line == "}":
                if name:
                    found[name] = frozenset(members)
                name, members = "", set()
            elif begins := _CLASS.match(line):
                name = begins[1]
            elif line.startswith("  ") and name:
                members.add(line.strip().rstrip(";"))
    return found


def gone(was: Public, now: Public) -> dict[str, Any]:
    """Public classes that moved or went, and members that went of those that stay, outside of internal packages."""
    by_name: dict[str, list[str]] = {}
    for name in sorted(now.keys() - was.keys()):
        by_name.setdefault(name.rpartition(".")[2], []).append(name)
    lost = sorted(was.keys() - now.keys())
    moved = {one: ", ".join(by_name[one.rpartition(".")[2]]) for one in lost if one.rpartition(".")[2] in by_name}
    stay = sorted(name for name in was.keys() & now.keys() if name.startswith(_API) and ".internals." not in name)
    members = {name: sorted(was[name] - now[name]) for name in stay if was[name] - now[name]}
    return {"moved": moved, "gone": [name for name in lost if name not in moved], "members_gone": members}


def programs(release: str, folder: Path) -> dict[str, Any]:
    """The facts of each program of tests/apps/topologies and its description, by pair and side.

    OSError if they do not run with the release.
    """
    for main in (str(SOURCES / "PairFacts.java"), "topologies.Descriptions"):
        ran = java(class_path(release), main, str(folder))
        if ran.returncode:
            raise OSError(f"the programs of tests/apps/topologies do not run with {release}: {ran.stderr[-2000:]}")
    found = {}
    for file in sorted(folder.glob("*/*.yaml")):
        read, described = (
            _UNSTEADY.sub("", one.read_text(encoding="utf-8")) for one in (file, file.with_suffix(".txt"))
        )
        found[f"{file.parent.name}/{file.stem}"] = {**document(read), "description": described, "library": ""}
    return found


def differing(was: object, now: object, path: tuple[str, ...] = ()) -> Iterator[tuple[str, object, object]]:
    """Each fact that differs between two documents: its path, and both values."""
    if isinstance(was, Mapping) and isinstance(now, Mapping):
        for key in sorted({*was, *now}, key=str):
            yield from differing(was.get(key), now.get(key), (*path, str(key)))
    elif was != now:
        yield ".".join(path), was, now


def changed_facts(was: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """Facts of the kept programs that differ: the value before and now, with the programs that show it."""
    by_change: dict[tuple[str, str, str], list[str]] = {}
    for program in sorted(was.keys() & now.keys()):
        for path, old, new in differing(was[program], now[program]):
            change = path.partition(".")[0], _short(old), _short(new)
            by_change.setdefault(change, []).append(f"{program}: {path}")
    return {
        "programs": len(was.keys() & now.keys()),
        "built by one release alone": sorted(was.keys() ^ now.keys()),
        "differs": [
            {
                "fact": fact,
                "was": old,
                "is": new,
                "programs": len({one.partition(":")[0] for one in shown}),
                "such as": shown[0],
            }
            for (fact, old, new), shown in by_change.items()
        ],
    }


def draft(old: str, new: str) -> dict[str, Any]:
    """All of it; CalledProcessError or OSError if a jar or a program cannot be read."""
    fetch((old, new))
    said = read((old, new))
    answers = refusals((old, new), release_settings().refusals)
    streams = {one: TARGET / one / f"kafka-streams-{one}.jar" for one in (old, new)}
    heeded = {one: read_in(jar) for one, jar in streams.items()}
    with tempfile.TemporaryDirectory() as folder:
        documents = {one: programs(one, Path(folder, one)) for one in (old, new)}
    return {
        "rules/releases.yaml": {"releases": new, "upgrade_from": upgrade_from(said, new)},
        "rules/upgrades.yaml, downgrades.yaml, brokers.yaml, defects.yaml": {
            "rows with an open end that cover it": list(covering(new)),
            "upgrade.from is heeded in": heeded[new],
            "otherwise than before in": {
                name: {old: heeded[old].get(name, ""), new: heeded[new].get(name, "")}
                for name in sorted(heeded[old].keys() | heeded[new].keys())
                if heeded[old].get(name) != heeded[new].get(name)
            },
        },
        "rules/settings.yaml": list(settings(said, old, new)),
        "rules/setting_refusals.yaml": [
            {"id": name, old: _answer(by_release[old]), new: _answer(by_release[new])}
            for name, by_release in answers.items()
            if old in by_release and new in by_release and _answer(by_release[old]) != _answer(by_release[new])
        ],
        "rules/release_changes.yaml": gone(public(TARGET / old), public(TARGET / new)),
        "topology_facts": changed_facts(documents[old], documents[new]),
    }


def _between(was: object, now: object) -> dict[str, object]:
    """Two values; of lists what one alone has."""
    if isinstance(was, list) and isinstance(now, list):
        lists = {"added": [one for one in now if one not in was], "gone": [one for one in was if one not in now]}
        return {name: values for name, values in lists.items() if values} or {"was": was, "is": now}
    return {"was": was, "is": now}


def _answer(both: tuple[str, str]) -> str:
    refused, taken = both
    if refused == TAKEN:
        return "taken"
    return f"refused: {refused}" if taken == TAKEN else f"both examples are refused: {taken}"


def _dotted(name: str) -> str:
    return name.removesuffix(".class").replace("/", ".")


def _short(value: object) -> str:
    text = "absent" if value is None else str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def main(arguments: list[str]) -> int:
    """Print the draft of a release."""
    lacking = [tool for tool in ("mvn", "java", "javac", "javap") if shutil.which(tool) is None]
    if lacking or not 1 <= len(arguments) <= 2:
        tools = f"not on PATH: {', '.join(lacking)}; it needs Maven and a JDK of version 17 or newer"
        print(tools if lacking else "usage: make new-release RELEASE=4.5.0 [AFTER=4.4.0]", file=sys.stderr)
        return 2
    try:
        old, new = before(arguments[0], arguments[1] if arguments[1:] else None)
    except BadInput as error:
        print(error, file=sys.stderr)
        return 2
    try:
        rows = draft(old, new)
    except (subprocess.CalledProcessError, OSError) as error:
        why = error.cmd[0] if isinstance(error, subprocess.CalledProcessError) else error
        print(f"RELEASE={new}: its jars, or those of {old}, could not be read ({why} failed)", file=sys.stderr)
        return 1
    print(f"# A draft for Kafka Streams {new}, read next to {old}. Confirm each row: docs/new_release.md.")
    print(yaml.safe_dump(rows, sort_keys=False, width=120, allow_unicode=True), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
