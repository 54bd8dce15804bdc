"""Changes in the settings, in the optimizations among them, and in the Kafka Streams release."""

from collections.abc import Iterator, Mapping
from hashlib import sha256

from kstreams_runbooks.decide.comparison.compared import Compared, Side, mergeable, source_tables
from kstreams_runbooks.decide.comparison.content import own_changelogs, reused_topics
from kstreams_runbooks.decide.comparison.counterparts import Counterparts
from kstreams_runbooks.decide.comparison.facts import sides
from kstreams_runbooks.decide.comparison.setting_facts import (
    CACHE,
    COMMIT,
    CONNECTION,
    DEFAULTS,
    GUARANTEE,
    INNER_SERDES,
    MERGE,
    NEW_NAMES,
    PREFIX,
    REUSE,
    SELF_JOIN,
    GivenSetting,
    bare,
    by_new_name,
    common_facts,
    facts_of,
    has_inner_serde,
    optimized,
    protocol_of,
    shown,
)
from kstreams_runbooks.decide.comparison.state.counted import cached_updates_are_counted
from kstreams_runbooks.decide.releases.refusals import past_limits
from kstreams_runbooks.decide.releases.settings import refuses
from kstreams_runbooks.decide.releases.topic_settings import is_of_no_topic
from kstreams_runbooks.decide.topology.names import is_generated
from kstreams_runbooks.model.releases.release import within
from kstreams_runbooks.model.releases.settings import SettingCatalogue, in_part
from kstreams_runbooks.model.topology.change import Fact, Subject, Undeclared
from kstreams_runbooks.wording import first_of

# With exactly once the defaults are other ones (KIP-129).
_COMMIT_MS = {"at_least_once": "30000", "exactly_once": "100"}
_OF_CONSUMERS = {"auto.offset.reset": "earliest", "check.crcs": "true"}
_ISOLATION, _ISOLATED = "isolation.level", {"at_least_once": "read_uncommitted", "exactly_once": "read_committed"}
_TABLES = Undeclared("source_table of every store that is filled straight from a topic", "", "new")
# Settings that rows are about: unknown if only one version's are given.
_ID, _PROTOCOL = "application.id", "group.protocol"
_REPLICAS, _TOPIC = "replication.factor", "topic."
# The replicas are those that brokers give (KIP-464).
_OF_BROKERS = -1
_REQUIRED = (_ID, "bootstrap.servers")
_MATTER = (_ID, "group.instance.id", GUARANTEE, _PROTOCOL, "state.dir", "topology.optimization")
# Facts that follow from the two values of a setting.
_OF_VALUES = ("differs", "set", "unset", "present")
NOTHING_KNOWN = SettingCatalogue()
_NOT_HEEDED = "without effect in that release"
# Tables and topics that one sentence names.
_MOST = 3
_OTHER_SIDE = ("-other-join-store", "OTHER-")
# Releases whose stored source tables drop an update without a change. Source: KIP-557, KAFKA-12508;
# tests/apps/idempotent-updates (measured with twelve releases).
DROPS_IDEMPOTENT_UPDATES = ("2.6.0..2.6.1", "2.7.0")


def own_settings_not_read(compared: Compared, catalogue: SettingCatalogue) -> list[str]:
    """Settings of the program itself that cannot be compared, sorted: one version shows neither value nor digest."""
    unread = _unread(compared.before) | _unread(compared.after)
    return sorted(
        name for name in unread if catalogue.is_of_the_program(name) and _digests_differ(compared, name) is None
    )


def _digests_differ(compared: Compared, name: str) -> bool | None:
    """Whether a setting of the program itself changes whose value was not read; None if that is not known."""
    both = [side.declared for side in (compared.before, compared.after)]
    if any(one.config is None for one in both):
        return None
    known = [one.digests.get(name) or _digest((one.config or {}).get(name)) for one in both]
    if any(one is None and name in side.settings_not_read for one, side in zip(known, both, strict=True)):
        # Not even a digest: that it comes or goes is known if the other version does not have it at all.
        one_has_it = name in both[0].settings_not_read ^ both[1].settings_not_read
        return True if one_has_it and known == [None, None] else None
    return known[0] != known[1]


def _digest(value: str | None) -> str | None:
    """As topology-facts.jar prints it."""
    return None if value is None else f"(digest {sha256(value.encode()).hexdigest()[:4]})"


def settings(compared: Compared, catalogue: SettingCatalogue = NOTHING_KNOWN) -> Iterator[Subject]:
    """Every setting that either version has, with what it controls; none if neither gives its settings."""
    before, after = compared.before.declared.config, compared.after.declared.config
    if before is None and after is None:
        return
    common, asked = common_facts(compared)
    was, will = by_new_name(before), by_new_name(after)
    unread = _unread(compared.before) | _unread(compared.after)
    old_topics, new_topics = (side.internal | own_changelogs(side) for side in (compared.before, compared.after))
    created = sorted(new_topics - old_topics)
    past = past_limits(after or {}, compared.after.declared.library, catalogue)
    ran = list(past_limits(before or {}, compared.before.declared.library, catalogue).values())
    for key in sorted({*_MATTER, *was, *will, *unread}):
        old, new = (
            _value(given if _is_heeded(given, key, side, catalogue) else {}, key)
            for given, side in ((was, compared.before), (will, compared.after))
        )
        # Every application has an id and a cluster: one that is not given is unknown.
        known = before is not None and after is not None and (key not in _REQUIRED or bool(old and new) or old == new)
        known = known and key not in unread
        own, also_asked = facts_of(key, old, new, compared, creates=bool(created))
        facts: dict[str, Fact] = {
            **common,
            **own,
            "setting": bare(key),
            "changed": old != new if known else None,
            "differs": known and old != new,
            "set": not old and bool(new),
            "unset": bool(old) and not new,
            "streams_group": uses_streams_group(compared.after),
            "creates": bool(created),
        }
        if (inner := INNER_SERDES.get(key)) and has_inner_serde(compared.before, inner):
            facts["bytes_declared"] = False
        limit = past.get(will[key].name) if key in will else None
        combines = bare(key) in {COMMIT, CACHE} or (key == GUARANTEE and _commits_otherwise(was, will))
        facts["updates_counted"] = combines and facts["changed"] is True and cached_updates_are_counted(compared.after)
        facts["past_limit"] = limit is not None and limit not in ran
        facts["not_taken"] = bool(new) and _no_broker_takes(key, new, catalogue)
        # Of a setting of the program itself facts show the name alone.
        facts["unknown_to_topics"] = (bool(new) or key in _unread(compared.after)) and is_of_no_topic(key)
        says_the_same = _is_default(key, old, new, catalogue) or _is_spelled(key, old, new, compared.after, catalogue)
        if own["family"] == CONNECTION and says_the_same:
            facts["family"] = key
        facts["of_the_program"] = catalogue.is_of_the_program(key)
        if key in unread and facts["of_the_program"]:
            # Its value may be a secret, so it is never read; without digests the plan lists it as not compared.
            facts["changed"] = _digests_differ(compared, key) or False
        elif key in unread:
            facts |= dict.fromkeys(_OF_VALUES)
        name = will.get(key, was.get(key, GivenSetting(key, ""))).name
        does = catalogue.does(name)
        hidden = [
            f"{side.declared.digests.get(key, '')} (not shown)".strip() if key in _unread(side) else ""
            for side in (compared.before, compared.after)
        ]
        said = {
            "name": name,
            "before": hidden[0] or shown(name, old)
            if _is_heeded(was, key, compared.before, catalogue)
            else _NOT_HEEDED,
            "after": hidden[1] or shown(name, new) if _is_heeded(will, key, compared.after, catalogue) else _NOT_HEEDED,
            "does": does and f"; it controls {does}",
            "limit": "" if limit is None else f"{limit.because}; {limit.cure}",
            "created": first_of(created, _MOST, " and "),
        }
        lacking = [None if key in _unread(side) else side.declared.config for side in (compared.before, compared.after)]
        missing = (Undeclared("config", key, sides(*lacking)),)
        of_values = dict.fromkeys(("changed", *_OF_VALUES), missing)
        yield Subject("setting", name, facts, said, {**asked, **also_asked, **of_values})


def _no_broker_takes(key: str, value: str, catalogue: SettingCatalogue) -> bool:
    """Whether each broker refuses to create a topic with the setting."""
    if key == _REPLICAS:
        # The library itself refuses a text that is not a number.
        given = value.strip()
        return given.lstrip("+-").isdecimal() and int(given) < 1 and int(given) != _OF_BROKERS
    bare_name = key.removeprefix(_TOPIC)
    return bare_name != key and any(row.name == bare_name and refuses(row, value) for row in catalogue.topics)


def _is_default(key: str, old: str, new: str, catalogue: SettingCatalogue) -> bool:
    """Whether one side writes out what a client of any release has without the setting."""
    given = old or new
    return not (old and new) and any(row.name == bare(key) and row.default == given for row in catalogue.rows)


def _is_spelled(key: str, old: str, new: str, side: Side, catalogue: SettingCatalogue) -> bool:
    """Whether only upper and lower case differ, and the release of a side takes any: `SSL` and `ssl`."""
    library, rows = side.declared.library, [row for row in catalogue.rows if row.name == bare(key)]
    heeded = [row.any_case for row in rows if library is not None and within(library, row.releases)]
    return old.lower() == new.lower() and bool(heeded) and all(heeded)


def _is_heeded(given: Mapping[str, GivenSetting], key: str, side: Side, catalogue: SettingCatalogue) -> bool:
    """Whether the release of a side reads a setting under the name that is given; also if that is not known."""
    if key not in given or side.declared.library is None:
        return True
    parts, name = in_part(given[key].name)
    return not catalogue.has(name, None, parts) or catalogue.has(name, side.declared.library, parts) is True


def _unread(side: Side) -> set[str]:
    """Settings that the program sets to a value that was not read, by their newest name."""
    return {NEW_NAMES.get(name, name) for name in side.declared.settings_not_read}


def optimizations(compared: Compared) -> Iterator[Subject]:
    """Each optimization of `topology.optimization`, and whether it is switched and has an effect."""
    before, after = compared.before.declared.config, compared.after.declared.config
    old, new = optimized(before or {}), optimized(after or {})
    known = before is not None and after is not None
    tables = source_tables(compared.after).values()
    reused = reused_topics(compared)
    read = compared.before.declared.was_read and compared.after.declared.was_read
    effects: dict[str, bool | None] = {
        REUSE: bool(reused) if read or reused else True if True in tables else None if None in tables else False,
        MERGE: bool(compared.topics.removed or compared.topics.added),
        SELF_JOIN: _joins_itself(compared.stores),
    }
    for name, effect in effects.items():
        # The text shows the other two; it does not show that a table has no changelog of its own.
        unknown = not known and name == REUSE
        facts: dict[str, Fact] = {
            "which": name,
            "effect": effect,
            "enabled": None if unknown else known and name in new - old,
            "disabled": None if unknown else known and name in old - new,
            "switched": None if unknown else known and name in old ^ new,
            "versioned": name == REUSE and any(_is_versioned(compared.after, store) for store in reused),
            "all_named": not any(is_generated(name) for name in compared.after.nodes),
            "not_built": name == MERGE and name in new and _not_built(compared, newly=name in new - old),
        }
        config = Undeclared("config", "topology.optimization", sides(before, after))
        asked = dict.fromkeys(("enabled", "disabled", "switched"), (config,))
        said = {"name": name, **_of_tables(reused)}
        yield Subject("optimization", name, facts, said, {**asked, "effect": (_TABLES,)})


def _is_versioned(side: Side, store: str) -> bool:
    declared = side.declared.stores.get(store)
    return declared is not None and declared.kind == "versioned"


def _of_tables(reused: Mapping[str, str]) -> dict[str, str]:
    """The tables that an optimization switches to their topics or back, and these topics."""
    named = first_of([f"table {store} from topic {topic}" for store, topic in sorted(reused.items())], _MOST, " and ")
    topics = first_of([f"topic {topic}" for topic in sorted(set(reused.values()))], _MOST, " and ")
    verb = "restores" if len(reused) == 1 else "restore"
    return {
        "tables": named.replace(" from topic ", f" {verb} from topic ", 1) if reused else "tables restore from topics",
        "topics": topics or "the topics that these tables read",
    }


def library(compared: Compared) -> Iterator[Subject]:
    """The change from one Kafka Streams release to another, if both are given."""
    old, new = compared.before.declared.library, compared.after.declared.library
    if old is None or new is None or old == new:
        return
    tables = source_tables(compared.after).values()
    facts: dict[str, Fact] = {
        "drops_now": within(new, DROPS_IDEMPOTENT_UPDATES) and not within(old, DROPS_IDEMPOTENT_UPDATES),
        "source_tables": True if True in tables else None if None in tables else False,
    }
    said = {"name": str(new), "before": str(old)}
    yield Subject("library", str(new), facts, said, {"source_tables": (_TABLES,)})


def uses_streams_group(side: Side) -> bool:
    """Whether its group uses the streams protocol (KIP-1071)."""
    return protocol_of(side.declared) == "streams"


def _not_built(compared: Compared, *, newly: bool) -> bool:
    """Whether there are parallel repartition topics that would be merged.

    An operator in between may prevent the library from merging; then only a setting without an effect shows it.
    """
    if mergeable(compared.after, through=False):
        return True
    unchanged = compared.before.topology == compared.after.topology
    return newly and unchanged and mergeable(compared.after, through=True)


def _commits_otherwise(was: Mapping[str, GivenSetting], will: Mapping[str, GivenSetting]) -> bool:
    """Whether the guarantee alone gives another interval of commits, at which a record cache lets its updates go."""
    return COMMIT not in {*was, *will} and _value(was, COMMIT) != _value(will, COMMIT)


def _value(given: Mapping[str, GivenSetting], key: str) -> str:
    if key == COMMIT and key not in given:
        guarantee = _value(given, GUARANTEE)
        return _COMMIT_MS["exactly_once" if guarantee.startswith("exactly_once") else "at_least_once"]
    if bare(key) == _ISOLATION and key not in given:
        return _ISOLATED["exactly_once" if _value(given, GUARANTEE).startswith("exactly_once") else "at_least_once"]
    if key == PREFIX and key not in given:
        # Without it the application.id is what they begin with.
        return given[_ID].value if _ID in given else ""
    value = given[key].value if key in given else {**DEFAULTS, **_OF_CONSUMERS}.get(bare(key), "")
    # Kafka reads this one in either case.
    return value.lower() if key == _PROTOCOL else value


def _joins_itself(stores: Counterparts) -> bool:
    """Whether the second store of a join comes or goes while the first stays: a self-join with one store or two."""
    gone = (*stores.removed, *stores.added)
    return bool(stores.pairs) and any(part in name for part in _OTHER_SIDE for name in gone)
