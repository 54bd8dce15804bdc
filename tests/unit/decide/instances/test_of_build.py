"""The digests of what runs are those of its build, if the build prints what the instances show."""

import re
from dataclasses import replace

import pytest
from kstreams_runbooks.decide.instances.of_build import compact, with_code_of_build
from kstreams_runbooks.ledger.codec import decode, encode
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.topology.code import Code
from kstreams_runbooks.model.topology.declaration import Declaration, DeclaredStore, Described
from kstreams_runbooks.rules import release_settings
from world.samples import OLD
from world.sides import AUDITED, COUNTS

PLACE = "stores.counts.value_serde"
SAME = Code("1", frozenset({"App.counted 1a2b3c4d"}), rules=2, jvm=17)
OTHER = replace(SAME, digest="2", methods=frozenset({"App.counted 5e6f7a8b"}))
SHOWN = Declaration(
    stores={"counts": DeclaredStore(kind="window", retention_ms=1_000, caching=True)},
    config={"application.id": "orders", "client.id": "orders-1"},
    digests={"minimum": "(digest 0001)"},
)
RUNNING = Described(OLD, OLD, "orders-1, orders-2", COUNTS, SHOWN, read=True)
BUILD = Described(OLD, "", f"topology command of {OLD}", COUNTS, replace(SHOWN, code={PLACE: SAME}))


def found(build: Described | Missing, shown: Declaration | None = SHOWN) -> Described:
    return with_code_of_build(RUNNING, shown, build, {PLACE: SAME}, release_settings())


def test_a_build_with_what_the_instances_show_has_their_code() -> None:
    """All else stays as the instances show it."""
    changed = found(BUILD)
    assert changed.declaration.code[PLACE].digest == "1"
    assert replace(changed, declared=replace(changed.declaration, code={})) == RUNNING
    assert decode(Described, encode(changed)) == changed


def test_methods_are_kept_of_what_differs_alone() -> None:
    """A part with equal digests proves its field without them, and what a run keeps stays small."""
    of_build = {PLACE: SAME, "stores.counts.key": OTHER, "stores.gone.key": SAME}
    wanted = {PLACE: SAME, "stores.counts.key": SAME}
    kept = compact(of_build, wanted)
    assert {where: bool(one.methods) for where, one in kept.items()} == {
        PLACE: False,
        "stores.counts.key": True,
        "stores.gone.key": True,
    }
    assert compact({PLACE: replace(SAME, rules=1)}, wanted)[PLACE].methods


@pytest.mark.parametrize(
    ("build", "reason"),
    [
        (Missing("the command fails"), "the command fails"),
        (replace(BUILD, declared=None), f"topology command of {OLD}: it prints none"),
        (
            replace(
                BUILD, declared=replace(SHOWN, not_read={"code": "class App is not on the class path of this JVM"})
            ),
            f"topology command of {OLD}: class App is not on the class path of this JVM",
        ),
        (replace(BUILD, text=AUDITED), "another topology"),
        (
            replace(
                BUILD,
                declared=replace(
                    BUILD.declaration, stores={"counts": DeclaredStore(kind="window", retention_ms=2_000)}
                ),
            ),
            r"stores\.counts\.retention_ms \(1000 and 2000\)",
        ),
        (
            replace(BUILD, declared=replace(BUILD.declaration, digests={"minimum": "(digest 0002)"})),
            "setting minimum has another value; give it their settings",
        ),
        (replace(BUILD, declared=replace(BUILD.declaration, digests={})), "setting minimum has another value"),
        (
            replace(
                BUILD,
                declared=replace(
                    BUILD.declaration, config={"topology.optimization": "all", "application.id": "orders"}
                ),
            ),
            r"setting topology\.optimization has another value",
        ),
        (replace(BUILD, declared=replace(BUILD.declaration, config=None)), "its settings are not known"),
    ],
)
def test_a_build_with_anything_else_has_no_code_and_a_reason(build: Described | Missing, reason: str) -> None:
    """What runs may be another build under the same name, or have other settings."""
    changed = found(build)
    assert not changed.declaration.code
    [why] = changed.unread
    assert why.startswith(f"code of {OLD}: ")
    assert re.search(reason, why), why


def test_instances_that_show_no_facts_have_nothing_to_compare_a_build_with() -> None:
    """Their settings and windows may be others than those of the command."""
    changed = found(BUILD, shown=None)
    assert not changed.declaration.code
    assert changed.unread == (f"code of {OLD}: no instance shows facts that its build can be compared with",)


def test_settings_of_one_instance_and_those_without_an_effect_may_differ() -> None:
    """The command of a release has those of no instance."""
    config = {"application.id": "orders", "client.id": "command", "num.stream.threads": "1"}
    changed = found(replace(BUILD, declared=replace(BUILD.declaration, config=config)))
    assert changed.declaration.code


def test_a_cache_that_a_start_has_taken_away_is_no_other_build() -> None:
    """The command shows what the program asks for, and the instance what its settings leave of it."""
    stores = {"counts": replace(SHOWN.stores["counts"], caching=False)}
    assert found(BUILD, shown=replace(SHOWN, stores=stores)).declaration.code


def test_a_setting_that_the_program_keeps_to_itself_may_be_in_the_file_of_the_command() -> None:
    """An instance shows what its program gives to Kafka Streams; of the library's own settings each one counts."""
    more = {**SHOWN.digests, "metrics.port": "(digest 0003)"}
    assert found(replace(BUILD, declared=replace(BUILD.declaration, digests=more))).declaration.code
