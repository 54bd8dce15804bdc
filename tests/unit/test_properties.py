"""Properties files are what Java reads, and never half written."""

from pathlib import Path

import pytest
from kstreams_runbooks.properties import dump, parse, write_atomically


def test_parse_as_java_does() -> None:
    """Separators, comments, continuation lines and escapes of java.util.Properties."""
    text = (
        "# c\n! c\n\n a = 1\nb:2\nc 3\nd\nlong=one\\\n   two\n"
        "key\\ with\\=signs=x\\ty\nuni=\\u00e9\npath=c:\\\\dir\\\\\n"
    )
    assert parse(text) == {
        "a": "1",
        "b": "2",
        "c": "3",
        "d": "",
        "long": "onetwo",
        "key with=signs": "x\ty",
        "uni": "é",
        "path": "c:\\dir\\",
    }


@pytest.mark.parametrize(
    "values",
    [
        {"release": "4.3.1", "upgrade.from": "3.4"},
        {"a b": " leading", "c=d": "#hash", "é": "\u20ac\U0001f600", "tab": "a\tb\nc\\", "empty": ""},
    ],
)
def test_dump_is_read_back(values: dict[str, str]) -> None:
    """What is written comes back, in plain ASCII."""
    text = dump(values, "one\ntwo")
    text.encode("ascii")
    back = parse(text)
    assert {key: value.encode("utf-16", "surrogatepass").decode("utf-16") for key, value in back.items()} == values


def test_write_replaces_in_one_step(tmp_path: Path) -> None:
    """The mode stays, no temporary file is left, a link to the file's directory is followed."""
    path = tmp_path / "deployment.properties"
    write_atomically(path, "a=1\n")
    assert path.stat().st_mode & 0o777 == 0o644
    path.chmod(0o640)
    write_atomically(path, "a=2\n")
    assert path.read_text() == "a=2\n"
    assert path.stat().st_mode & 0o777 == 0o640
    assert [one.name for one in tmp_path.iterdir()] == ["deployment.properties"]


def test_a_secret_over_several_lines_is_one_value() -> None:
    """As people write sasl.jaas.config."""
    text = (
        '# ours\nsecurity.protocol: SASL_SSL\nsasl.jaas.config=a.b.Login required \\\n   user="x" \\\n   pass="=#y";\n'
    )
    assert parse(text) == {
        "security.protocol": "SASL_SSL",
        "sasl.jaas.config": 'a.b.Login required user="x" pass="=#y";',
    }
