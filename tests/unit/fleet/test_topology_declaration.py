"""The file in which a release declares what its topology description leaves out."""

import re
from pathlib import Path

import pytest
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.fleet.topology_declaration import read_topology_declaration
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.topology.declaration import Memory, Serde, Window

PAGE = Path(__file__).resolve().parents[3] / "docs" / "declaration.md"


def written(folder: Path, text: str) -> Path:
    file = folder / "4.3.1.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def test_the_example_of_the_page_is_read(tmp_path: Path) -> None:
    """Defaults of serdes go to whatever gives none; settings are text, as in a properties file."""
    [text] = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    declared = read_topology_declaration(written(tmp_path, text))
    hourly = declared.stores["orders-hourly-store"]
    assert hourly.window == Window("tumbling", 3_600_000, 300_000)
    assert (hourly.key_serde, hourly.value_serde) == (Serde("string"), Serde("json", 3))
    assert declared.topics["orders"].joined_with == frozenset({"customers"})
    assert declared.topics["customers"].joined_with is None
    assert declared.library == Release("4.3.1")
    assert declared.memory == Memory(536_870_912, 3)
    assert declared.suppressions["orders-windowed-closed"].max_records == 100_000


def test_settings_are_text_whatever_yaml_takes_them_for(tmp_path: Path) -> None:
    """30000 and true are what a properties file would have."""
    file = written(tmp_path, "config: {commit.interval.ms: 30000, enable: true}\n")
    assert read_topology_declaration(file).config == {"commit.interval.ms": "30000", "enable": "true"}


def test_nothing_is_taken_for_declared(tmp_path: Path) -> None:
    """An empty mapping, and values that are null."""
    empty = read_topology_declaration(written(tmp_path, "{}\n"))
    nulls = read_topology_declaration(written(tmp_path, "library: null\nconfig: null\nstores: {a: {kind: null}}\n"))
    assert (empty.config, empty.library, empty.stores) == (None, None, {})
    assert (nulls.config, nulls.stores["a"].kind) == (None, None)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "must be a mapping"),
        ("stores: [a]\n", "stores must be a mapping"),
        ("store: {}\n", "store is not a known key; did you mean stores?"),
        ("stores: {a: {kind: table}}\n", 'stores.a.kind: "table" must be'),
        ("stores: {a: {windows: {}}}\n", "stores.a.windows is not a known key; did you mean window?"),
        ("stores: {a: {}, a: {}}\n", "line 1 has the key a a second time"),
        ("library: newest\n", 'library: "newest" is not a Kafka release'),
        (
            "stores: {a: {kind: key_value, window: {kind: tumbling, size_ms: 1, grace_ms: 0}}}\n",
            "contradicts kind: key_value, which has no window",
        ),
        (
            "stores: {a: {kind: session, window: {kind: tumbling, size_ms: 1, grace_ms: 0}}}\n",
            "has kind tumbling, which contradicts kind: session",
        ),
        (
            "stores: {a: {kind: window, window: {kind: tumbling, size_ms: 5, grace_ms: 1}, retention_ms: 2}}\n",
            "is less than size and grace of its window (6)",
        ),
        ("stores: {a: {kind: key_value, retention_ms: 2}}\n", "which has no retention"),
        (
            "stores: {a: {kind: window, window: {kind: tumbling, size_ms: 5, grace_ms: 1, after_ms: 6}}}\n",
            "has an after_ms, which contradicts kind: tumbling",
        ),
        (
            "stores: {a: {kind: window, window: {kind: hopping, size_ms: 5, grace_ms: 1, advance_ms: 6}}}\n",
            "has an advance_ms longer than its size_ms",
        ),
        ("stores: {a: {kind: window, window: {kind: tumbling, size_ms: -1, grace_ms: 0}}}\n", "greater than or equal"),
        ("suppressions: {a: {mode: until_window_closes, time_limit_ms: 5}}\n", "which has no time limit"),
        ("suppressions: {a: {mode: until_window_closes, when_full: emit_early}}\n", "emit_early contradicts mode"),
    ],
)
def test_a_bad_file_is_one_sentence_with_its_place(tmp_path: Path, text: str, sentence: str) -> None:
    """File, field, value and what would be right."""
    file = written(tmp_path, text)
    with pytest.raises(BadInput, match=re.escape(sentence)) as raised:
        read_topology_declaration(file)
    assert str(raised.value).startswith(str(file))
