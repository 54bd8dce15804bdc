"""What an example of a difference leaves out, also of values that are not what was expected."""

import pytest
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.frames.compare_examples import MASKED, Masks

VALUE = b'{"id":7,"customer":{"email":"ada@example.com"},"lines":[{"card":"4111"},{"card":"4222","n":1}]}'


@pytest.mark.parametrize(
    ("masks", "value", "shown", "matched"),
    [
        ((), VALUE[:9], '{"id":7,"', []),
        ((), b"\xff\x00", "0xff00", []),
        ((), b"", "0x", []),
        ((), b"a" * 201, "a" * 200 + "…", []),
        (("value",), VALUE, MASKED, []),
        (("key", "headers"), b"v", "v", []),
        (("$.customer.email", "$.lines"), VALUE, '{"id":7,"customer":{"email":"***"},"lines":"***"}', None),
        (
            ("$.lines[*].card", "$.customer"),
            VALUE,
            '{"id":7,"customer":"***","lines":[{"card":"***"},{"card":"***","n":1}]}',
            None,
        ),
        (("$.lines[1].card", "$.customer"), VALUE, '"lines":[{"card":"4111"},{"card":"***","n":1}]}', None),
        (("$.customer.mail",), b'{"customer":{"email":"x"}}', '{"customer":{"email":"x"}}', []),
        (("$.lines[9]",), b'{"lines":[1]}', '{"lines":[1]}', []),
        (("$.a.b",), b'{"a":"b"}', '{"a":"b"}', []),
        (("$[*].a",), b'[{"a":1},2]', '[{"a":"***"},2]', None),
        (("$.a",), b"no JSON, with a secret", MASKED, []),
        (("$.a",), b'{"a":1', MASKED, []),
        (("$.a",), b'{"a":"secret","a":"secret"}', MASKED, []),
        (("$.a",), b'\x00\x00\x00\x00\x07{"a":1}', MASKED, []),
        (("$.a",), b"[" * 100_000, MASKED, []),
        (("$.a",), b'{"a":"' + b"s" * 500 + b'","b":1}', '{"a":"***","b":1}', None),
    ],
)
def test_a_value_has_no_masked_part(
    masks: tuple[str, ...], value: bytes, shown: str, matched: list[str] | None
) -> None:
    found: set[str] = set()
    assert Masks.parse(masks).value(value, found).endswith(shown)
    assert found == set(masks if matched is None else matched)


@pytest.mark.parametrize(
    "mask", ["customer.email", "$", "$.", "$..a", "$.a,b", "$.a[x]", "$['a']", "values", "", "$.a b", "$.a.[0]"]
)
def test_a_mask_that_cannot_be_used_is_bad_input(mask: str) -> None:
    with pytest.raises(BadInput, match="is not key, value, headers or a path"):
        Masks.parse(["key", mask])
