"""docs/forms.md is printed from the forms."""

from world import forms


def test_the_page_is_up_to_date() -> None:
    """`make docs` prints it again."""
    assert forms.FILE.read_text(encoding="utf-8") == forms.page(), "docs/forms.md is out of date: make docs"
