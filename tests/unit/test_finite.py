"""Options that take a number take one that can be waited for."""

import pytest
from click.testing import CliRunner
from kstreams_runbooks.cli import cli
from kstreams_runbooks.errors import BadInput

OPTIONS = [
    ("drain", "orders", "--watch", "--interval"),
    ("drain", "orders", "--watch", "--ceiling"),
    ("verify-traffic", "--bootstrap", "127.0.0.1:1", "--settle"),
    ("verify-traffic", "--bootstrap", "127.0.0.1:1", "--timeout"),
    ("generate-traffic", "--bootstrap", "127.0.0.1:1", "--rate"),
    ("generate-traffic", "--bootstrap", "127.0.0.1:1", "--seconds"),
    ("trigger", "library_bump", "--wait", "--timeout"),
]


@pytest.mark.parametrize("words", OPTIONS, ids=" ".join)
@pytest.mark.parametrize("value", ["inf", "nan", "1e300", "-1"])
def test_what_never_ends_or_is_no_number_is_refused(words: tuple[str, ...], value: str) -> None:
    """As click refuses what is too small: usage, and exit code 2."""
    result = CliRunner().invoke(cli, [*words, value])
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"Invalid value for '{words[-1]}'" in result.stderr


def test_a_ceiling_belongs_to_a_watch() -> None:
    """Without one as many readings are taken as would prove it, however long that is."""
    with pytest.raises(BadInput, match="--ceiling: is the limit of --watch"):
        CliRunner().invoke(cli, ["drain", "orders", "--ceiling", "5"], catch_exceptions=False)
