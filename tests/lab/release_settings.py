"""`make settings`: the settings of every release of Kafka Streams, and what it refuses, to rules/settings.yaml.

Without an argument it reads all releases of rules/releases.yaml and writes the file. It gives the examples of
rules/setting_refusals.yaml to each of them, and prints which releases refuse them. With `--check RELEASE…` it reads
these alone, writes nothing, and prints where the file differs. Needs a JDK (17 or newer) and Maven.

Exit codes: 0 written, or nothing differs; 1 something differs, or a release could not be read; 2 bad input.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml
from kstreams_runbooks.model.releases.release import Release, within
from kstreams_runbooks.model.releases.settings import SettingRefusal
from kstreams_runbooks.rules import release_settings, upgrade_path_rules

HERE = Path(__file__).resolve().parents[1] / "apps" / "settings"
TARGET = HERE / "target"
FILE = Path(__file__).resolve().parents[2] / "plugins" / "kstreams_runbooks" / "rules" / "settings.yaml"
# What the settings need in addition to the two jars of a release: 3.8.0 and later ask zstd for its levels.
COMMON = ("org.slf4j:slf4j-api:1.7.36", "org.slf4j:slf4j-nop:1.7.36", "com.github.luben:zstd-jni:1.5.6-4")
HEAD = """\
# Every setting of every release of Kafka Streams and of its clients, printed by `make settings` from the releases'
# own ConfigDef (StreamsConfig, ConsumerConfig, ProducerConfig, AdminClientConfig); not written by hand.
# `of`: the parts that have it; of a client, the default that Kafka Streams gives it. `releases`: all, where not given.
# `default`: none where it has to be set; null where it is not set. `check`: the release's own text about a check
# that is neither a list of values nor a range. Defaults of ssl.* are those on JDK 17.
# `refused_by`: the releases that construct no application with the example of that row of setting_refusals.yaml, and
# the words of the newest of them.
"""
POM = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
<modelVersion>4.0.0</modelVersion>
<groupId>kstreams.runbooks.tests</groupId><artifactId>settings</artifactId><version>1</version><packaging>pom</packaging>
<build><plugins><plugin>
<groupId>org.apache.maven.plugins</groupId><artifactId>maven-dependency-plugin</artifactId><version>3.8.1</version>
<configuration><artifactItems>
{items}
</artifactItems></configuration>
</plugin></plugins></build>
</project>
"""
PARTS = ("streams", "consumer", "producer", "admin")
# Words that YAML takes for something else.
_RESERVED = {"true", "false", "null", "yes", "no", "on", "off"}
# What an application of a release without exactly_once_v2 has in its place.
OLDER_GUARANTEES = (("..2.5", "exactly_once"), ("2.6..2.8", "exactly_once_beta"))
GUARANTEE = "processing.guarantee"
TAKEN = "-"
# name, then part and release: that setting there
Said = dict[str, dict[tuple[str, str], dict[str, Any]]]
# id of a row, then release: the exception on its example, and TAKEN if the release takes it; both examples
Refused = dict[str, dict[str, tuple[str, str]]]


def fetch(releases: tuple[str, ...]) -> None:
    """The jars of these releases, and the programs that read them; CalledProcessError where Maven or Java fails."""
    TARGET.mkdir(parents=True, exist_ok=True)
    (TARGET / "pom.xml").write_text(_pom(releases), encoding="utf-8")
    subprocess.run(["mvn", "-q", "-B", "-Dstyle.color=never", "-f", TARGET / "pom.xml", "dependency:copy"], check=True)
    subprocess.run(["javac", "-d", TARGET, HERE / "Settings.java", HERE / "Refusals.java"], check=True)


def refusals(releases: Iterable[str], examples: Iterable[SettingRefusal]) -> Refused:
    """What each release answers to both examples of each row; CalledProcessError where Java fails.

    Each release has a JVM of its own: a client that is refused may keep files open.
    """
    examples, found = tuple(examples), Refused()
    for release in releases:
        given = [_line(example, release) for row in examples for example in (row.refused, row.taken)]
        with tempfile.TemporaryDirectory() as directory:
            command = ["java", "-Xmx256m", f"-Djava.io.tmpdir={directory}", "-cp", f"{TARGET}:{TARGET}/common/*"]
            answer = subprocess.run(
                [*command, "Refusals", str(TARGET / release)],
                input="".join(given),
                capture_output=True,
                encoding="utf-8",
                check=True,
            )
        print(answer.stderr, end="", file=sys.stderr)
        answers = [line.split("\t")[2] for line in answer.stdout.splitlines()]
        for row, refused, taken in zip(examples, answers[::2], answers[1::2], strict=bool(answers)):
            found.setdefault(row.id, {})[release] = (refused, taken)
    return found


def given_to(release: str, example: Mapping[str, str]) -> dict[str, str]:
    """The settings of an example, with the guarantee that the release has."""
    older = next((value for ranges, value in OLDER_GUARANTEES if within(Release(release), (ranges,))), None)
    return {name: older if older and name == GUARANTEE else value for name, value in example.items()}


def _line(example: Mapping[str, str], release: str) -> str:
    return "\t".join(f"{name}={value}" for name, value in given_to(release, example).items()) + "\n"


def refusal_rows(found: Refused, releases: tuple[str, ...]) -> list[dict[str, Any]]:
    """The rows of the file: the releases that refuse the example and take what is nearly it; ValueError without any."""
    made = []
    for name, by_release in found.items():
        refuse = [release for release, (refused, taken) in by_release.items() if refused != TAKEN and taken == TAKEN]
        if not refuse:
            raise ValueError(f"{name}: no release refuses its example and takes the other; correct the row")
        there = [release for release in releases if release in by_release]
        words = by_release[refuse[-1]][0].rpartition(" <- ")[2]
        made.append({"id": name, "releases": list(_ranges(refuse, there, releases)), "words": words})
    return made


def read(releases: Iterable[str]) -> Said:
    """The settings of these releases, whose jars are there; CalledProcessError where Java fails."""
    command = ["java", "-Xmx256m", "-cp", f"{TARGET}:{TARGET}/common/*", "Settings"]
    answer = subprocess.run(
        [*command, *(str(TARGET / release) for release in releases)],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    print(answer.stderr, end="", file=sys.stderr)
    said: Said = defaultdict(dict)
    for line in answer.stdout.splitlines():
        release, part, name, kind, default, check, deprecated, importance = line.split("\t")
        said[name][part, release] = _row(kind, default, check, deprecated, importance)
    return said


def _row(kind: str, default: str, check: str, deprecated: str, importance: str) -> dict[str, Any]:
    row: dict[str, Any] = {"type": kind, "importance": importance}
    if default != "-":
        row["default"] = None if default == "null" else default
    if deprecated:
        row["deprecated"] = True
    validator, _, text = check.partition(" ")
    if validator in {"ValidString", "CaseInsensitiveValidString"}:
        values = [one for one in text.partition("[")[2].rstrip("]").split(", ") if one != "null"]
        # The check that heeds no case keeps a set, in no order.
        row["values"] = values if validator == "ValidString" else sorted(one.lower() for one in values)
        if validator != "ValidString":
            row["any_case"] = True
    elif validator == "Range":
        row["range"] = [None if end == "..." else float(end) for end in _ends(text)]
    elif text:
        row["check"] = text
    return row


def _ends(text: str) -> tuple[str, str]:
    ends = text.strip("[]").split(",")
    return ends[0], ends[-1]


def rows(said: Said, releases: tuple[str, ...]) -> list[dict[str, Any]]:
    """The rows of the file: one for each setting, the parts that agree on it, and the releases where it is the same."""
    found = []
    there = {part: [one for one in releases if any((part, one) in row for row in said.values())] for part in PARTS}
    for name in sorted(said):
        by_content: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for (part, release), row in said[name].items():
            by_content[json.dumps(row)][part].append(release)
        merged: dict[tuple[str, tuple[str, ...]], list[str]] = defaultdict(list)
        for content, parts in by_content.items():
            for part in PARTS:
                if part in parts:
                    merged[content, _ranges(parts[part], there[part], releases)].append(part)
        ordered = sorted(merged.items(), key=lambda one: (PARTS.index(one[1][0]), _start(one[0][1])))
        for (content, ranges), of in ordered:
            row = {"name": name, "of": of, "releases": list(ranges), **json.loads(content)}
            found.append({key: value for key, value in row.items() if key != "releases" or ranges != ("..",)})
    return found


def _ranges(have: Iterable[str], there: list[str], releases: tuple[str, ...]) -> tuple[str, ...]:
    """Releases as ranges: an end is open where a part begins or where the list ends."""
    wanted, runs = set(have), list[list[str]]()
    for before, release in zip(["", *there], there, strict=False):
        if release in wanted:
            if runs and runs[-1][-1] == before:
                runs[-1].append(release)
            else:
                runs.append([release])
    return tuple(_range(run, there, releases) for run in runs)


def _range(run: list[str], there: list[str], releases: tuple[str, ...]) -> str:
    minor = Release(run[0]).minor
    # Part of a minor is given by its patches.
    short = Release(run[-1]).minor != minor or run == [one for one in releases if Release(one).minor == minor]
    low = "" if run[0] == there[0] else _short(run[0], releases, first=True) if short else run[0]
    high = "" if run[-1] == there[-1] else _short(run[-1], releases, first=False) if short else run[-1]
    return low if low and low == high else f"{low}..{high}"


def _short(release: str, releases: tuple[str, ...], *, first: bool) -> str:
    """The minor of a release where it is the first or the last of it."""
    of_minor = [one for one in releases if Release(one).minor == Release(release).minor]
    return Release(release).minor if release == of_minor[0 if first else -1] else release


def _start(ranges: tuple[str, ...]) -> tuple[int, ...]:
    low = ranges[0].partition("..")[0]
    return Release(low).numbers if low else ()


def printed(found: list[dict[str, Any]], refused: list[dict[str, Any]]) -> str:
    """The file's text: a line for each row."""
    sections = (("settings", found), ("refused_by", refused))
    return HEAD + "".join(f"{name}:\n" + "".join(f"  - {_flow(row)}\n" for row in rows_) for name, rows_ in sections)


def _flow(row: Mapping[str, Any]) -> str:
    return "{" + ", ".join(f"{key}: {_yaml(value)}" for key, value in row.items()) + "}"


def _yaml(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_yaml, value))}]"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else str(value)
    plain = isinstance(value, str) and re.fullmatch(r"[a-z][a-z0-9_.]+", value) and value not in _RESERVED
    return str(value) if plain else json.dumps(value)


def _pom(releases: Iterable[str]) -> str:
    """A project that copies the jars of each release to a folder of its name."""
    jars = [
        *((f"org.apache.kafka:{jar}:{one}", one) for one in releases for jar in ("kafka-streams", "kafka-clients")),
        *((jar, "common") for jar in COMMON),
    ]
    return POM.format(items="\n".join(_item(jar, folder) for jar, folder in jars))


def _item(jar: str, folder: str) -> str:
    group, artifact, version = jar.split(":")
    coordinates = f"<groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version>"
    return f"<artifactItem>{coordinates}<outputDirectory>${{basedir}}/{folder}</outputDirectory></artifactItem>"


def differing(said: Said, kept: list[dict[str, Any]], releases: Iterable[str]) -> list[str]:
    """Where the kept rows differ from these releases, one line each."""
    found = []
    for release in releases:
        for part in PARTS:
            now = {name: rows_[part, release] for name, rows_ in said.items() if (part, release) in rows_}
            then = {
                row["name"]: {key: value for key, value in row.items() if key not in {"name", "of", "releases"}}
                for row in kept
                if part in row["of"] and within(Release(release), tuple(row.get("releases", [".."])))
            }
            if now:
                found += [
                    f"{release}, {part}, {name}: kept {then.get(name)}, read {now.get(name)}"
                    for name in sorted(now.keys() | then.keys())
                    if now.get(name) != then.get(name)
                ]
    return found


def differing_refusals(found: Refused, kept: list[dict[str, Any]]) -> list[str]:
    """Where the kept rows differ from what releases refuse, one line each."""
    ranges = {row["id"]: tuple(row["releases"]) for row in kept}
    return [
        f"{release}, {name}: kept {'refused' if was else 'taken'}, answered {refused} ({taken} to the other example)"
        for name, by_release in found.items()
        for release, (refused, taken) in by_release.items()
        if (was := within(Release(release), ranges.get(name, ()))) != (refused != TAKEN and taken == TAKEN)
    ]


def main(arguments: list[str]) -> int:
    """Write the file, or check two releases or more."""
    known = tuple(release.text for release in upgrade_path_rules().releases)
    check = arguments[:1] == ["--check"]
    asked = tuple(arguments[1:]) if check else known
    if (arguments and not check) or not asked or set(asked) - set(known):
        print(f"usage: [--check RELEASE...], each one of: {' '.join(known)}", file=sys.stderr)
        return 2
    for tool in ("mvn", "java", "javac"):
        if shutil.which(tool) is None:
            print(f"{tool} is not on PATH; it needs Maven and a JDK of version 17 or newer", file=sys.stderr)
            return 2
    try:
        fetch(asked)
        said = read(asked)
        refused = refusals(asked, release_settings().refusals)
    except subprocess.CalledProcessError as error:
        print(f"{error}\n{error.stderr or ''}", file=sys.stderr)
        return 1
    if check:
        kept = yaml.safe_load(FILE.read_text(encoding="utf-8"))
        differences = [*differing(said, kept["settings"], asked), *differing_refusals(refused, kept["refused_by"])]
        print("\n".join(differences) or f"rules/settings.yaml is what {', '.join(asked)} print")
        return 1 if differences else 0
    FILE.write_text(printed(rows(said, known), refusal_rows(refused, known)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
