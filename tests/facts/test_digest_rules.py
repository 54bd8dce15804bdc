"""Each rule of the digests is held by a test: `make mutate-digests`."""

import pytest
from mutate.digests import main


@pytest.mark.long
def test_a_rule_that_is_taken_away_fails_a_test(capsys: pytest.CaptureFixture[str]) -> None:
    """A normalisation, a kind of reference, a kind of value, a rule of libraries."""
    assert main() == 0, capsys.readouterr().err
