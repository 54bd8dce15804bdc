"""Changes of the topics that an application reads from others and writes for others."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial

from kstreams_runbooks.decide.comparison.beginning import RESET, beginning
from kstreams_runbooks.decide.comparison.compared import Compared, Side, source_tables, target_of
from kstreams_runbooks.decide.comparison.content import contents, own_changelogs, prefix
from kstreams_runbooks.decide.comparison.facts import DeclaredFacts, topic_facts
from kstreams_runbooks.decide.comparison.global_stores import RestoredGlobal, left_behind, restored
from kstreams_runbooks.decide.comparison.operators import partitioners
from kstreams_runbooks.decide.comparison.read_back import read_back
from kstreams_runbooks.decide.comparison.setting_facts import DEFAULTS, EXTRACTOR, REUSE, optimized, timed_by
from kstreams_runbooks.decide.comparison.state.feeding import merged_unevenly
from kstreams_runbooks.decide.comparison.state.order import moved_across
from kstreams_runbooks.decide.comparison.state.suppressions import candidates
from kstreams_runbooks.decide.comparison.words import topic_words
from kstreams_runbooks.decide.topology.graph import rounds, store_roles
from kstreams_runbooks.decide.topology.java_pattern import matched
from kstreams_runbooks.decide.topology.names import passes_each_on
from kstreams_runbooks.decide.topology.partitions import joined_topics, joins
from kstreams_runbooks.decide.topology.pattern_names import matches, reads_all_of
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.matching import PatternTooSlow
from kstreams_runbooks.model.topology.change import Fact, Subject, Undeclared
from kstreams_runbooks.model.topology.declaration import DEFAULT, DeclaredTopic
from kstreams_runbooks.model.topology.topology import Processor
from kstreams_runbooks.wording import first_of

# The topics of a sink with an extractor, in a sentence.
_CHOSEN = "topics chosen by code"
_ID = "application.id"
# A topic that fills no store together with another.
_ALONE: tuple[bool | None, tuple[str, ...]] = (False, ())


def sources(compared: Compared) -> Iterator[Subject]:
    """External topics that are read, a pattern as one; those of global stores apart."""
    stateful = {
        topic
        for side in (compared.before, compared.after)
        for role in store_roles(side.topology).values()
        for topic in role.inputs
    }
    before, after, left = compared.before.global_stores, compared.after.global_stores, left_behind(compared)
    # The finding of the topic before names this one.
    kept = {store for topic in left for store in before[topic]}
    replacing = {topic for topic, stores in after.items() if topic not in before and kept.issuperset(stores)}
    merged = merged_unevenly(compared)
    own, together = compared.before.written(), _read_together(compared.after)
    joined, needed = _joined_now(compared), _needed(compared.after)
    timed, untimed = timed_by(compared.after)
    patterns = compared.before.patterns, compared.after.patterns
    tasks = compared.before.read(is_global=False), compared.after.read(is_global=False)
    restoring = {one.topic for one in contents(compared.before).values() if one.place == "input"}
    round_now = _round_now(compared)
    across = moved_across(compared, (compared.before.written() & compared.after.written()) - compared.after.internal)
    for is_global in (False, True):
        old, new = (side.read(is_global=is_global) for side in (compared.before, compared.after))
        for topic in sorted(old | new):
            declared, asked = _declared(compared, topic, topic)
            stays = topic in old and topic in new
            if not stays:
                declared = dict.fromkeys(declared, False)
            uneven, lacking = (
                (False, ())
                if is_global
                else _uneven(compared, topic, together.get(topic, ()), joined.get(topic, set()))
            )
            of_tasks = topic in tasks[0], topic in tasks[1]
            is_pattern = topic in patterns[0] | patterns[1]
            # A pattern in place of the names that it matches is new: it reads what is created later too.
            otherwise = [
                not is_global and _is_read(topic, read, of_side, is_pattern=is_pattern)
                for read, of_side in zip((patterns[0], tasks[1]), patterns, strict=True)
            ]
            own_output = _own_output_now(compared, patterns, topic)
            at_restore = restored(compared, topic) if is_global else RestoredGlobal()
            if is_global:
                declared["extractor_changed"] = False
            facts: dict[str, Fact] = {
                "added": topic not in old and not otherwise[0],
                "removed": topic not in new and topic not in after and not otherwise[1],
                "was_global": not is_global and topic in new and topic in before and not of_tasks[0],
                "becomes_global": is_global and topic in new and of_tasks == (True, False),
                "begins": beginning(compared.after, topic),
                "own": topic in own,
                "stays": stays,
                "global": is_global,
                "global_changed": is_global and before.get(topic) != after.get(topic) and topic not in replacing,
                "global_left_behind": is_global and topic in left,
                "stateful": topic in stateful,
                "loss_acceptable": topic not in needed,
                "is_changelog": _is_changelog(compared.before, topic, restoring) if topic not in new else False,
                "uneven": uneven,
                "merged_unevenly": merged.get(topic, _ALONE)[0],
                "is_pattern": is_pattern,
                "reads_own": None if own_output is None else bool(own_output),
                "overlaps": _overlaps(topic, patterns),
                "goes_round": topic in round_now and not is_global,
                "ends": bool(_may_end(compared.after, round_now.get(topic, frozenset()))),
                "moved_across": topic in across,
                "timed": timed,
                "copied_past_processor": at_restore.copied,
                "processed_at_restore": at_restore.processed,
                "files_kept": _has_files(compared.after, at_restore.store),
                **declared,
            }
            what = Undeclared("config", "topology.optimization", "old")
            if compared.before.declared.config is not None:
                what = Undeclared(f"source_table of the store that is filled from {topic}", "", "old")
            begins = (Undeclared("config", RESET, "new"),)
            yield Subject(
                "source_topic",
                topic,
                facts,
                {
                    **_said(compared, topic, topic),
                    **_pattern_words(topic, *patterns),
                    "global_fate": left.get(topic, ""),
                    "other_patterns": first_of(sorted(patterns[1] - {topic})),
                    "own_output": first_of(sorted(own_output or ())),
                    "round": first_of(sorted(round_now.get(topic, ()))),
                    "ending": first_of(_may_end(compared.after, round_now.get(topic, frozenset()))),
                    "moved_operators": across.get(topic, ""),
                    "merged_with": ", ".join(merged[topic][1] if topic in merged else ()),
                    "uneven_with": _uneven_with(compared, topic),
                    "global_store": at_restore.store,
                    "global_processor": at_restore.processor,
                    "library": str(compared.after.declared.library),
                },
                {
                    **asked,
                    "timed": untimed,
                    "reads_own": (Undeclared("config", _ID, "new"),),
                    "is_changelog": (what,),
                    "uneven": lacking,
                    "copied_past_processor": at_restore.asked,
                    "processed_at_restore": at_restore.asked,
                    "begins": begins,
                    "merged_unevenly": (Undeclared(f"topics.{topic}", "partitions", "new"),),
                },
            )


def _has_files(side: Side, store: str) -> bool:
    declared = side.declared.stores.get(store)
    return declared is None or declared.on_disk


def _is_read(topic: str, read: Collection[str], patterns: Collection[str], *, is_pattern: bool) -> bool:
    """Whether sources read a topic by a pattern, or all that a pattern matches by others of their own.

    False if that is not proven, as for a pattern that may not be read here as Java reads it.
    """
    if is_pattern:
        return topic in patterns or reads_all_of(topic, read, patterns)
    return any(matches(pattern, topic) for pattern in patterns)


def _own_output(side: Side, pattern: str) -> set[str] | None:
    """The topics that a version writes, internal ones by their full names, and reads by a pattern.

    None if the pattern cannot be read here as Java reads it, or the full names are not known.
    """
    begins, internal = prefix(side), side.internal | own_changelogs(side)
    written = (side.sinks.keys() - side.internal) | ({f"{begins}{topic}" for topic in internal} if begins else set())
    try:
        found = {topic for topic in written if matched(pattern, topic)}
    except (BadInput, PatternTooSlow):
        return None
    return found if found or begins or not internal else None


def _own_output_now(compared: Compared, patterns: tuple[frozenset[str], frozenset[str]], topic: str) -> set[str] | None:
    """What a pattern reads of the application's own output, and did not before; None if that is not known."""
    if topic not in patterns[1]:
        return set()
    now = _own_output(compared.after, topic)
    was = _own_output(compared.before, topic) if topic in patterns[0] else set()
    if now is None or was is None:
        # Nothing comes to what was read and written before.
        same = topic in patterns[0] and compared.before.sinks.keys() >= compared.after.sinks.keys()
        return set() if same else None
    return now - was


def _round_now(compared: Compared) -> dict[str, frozenset[str]]:
    """Topics that lead back to themselves since this change, each with the operators of its round.

    A round that an old one becomes by more operators is none of its own.
    """
    was = rounds(compared.before.topology)
    return {topic: found for topic, found in rounds(compared.after.topology).items() if topic not in was}


def _may_end(side: Side, operators: Collection[str]) -> list[str]:
    """The operators of a round that may leave a record out: all whose names do not show that they pass each one on."""
    return sorted(
        name for name in operators if isinstance(side.nodes.get(name), Processor) and not passes_each_on(name)
    )


def _overlaps(topic: str, patterns: tuple[frozenset[str], frozenset[str]]) -> bool:
    """Whether a topic may match two patterns of the new version, which the old one did not have together."""
    old, new = patterns
    return topic in new and len(new) > 1 and not new <= old


def _pattern_words(name: str, old: frozenset[str], new: frozenset[str]) -> dict[str, str]:
    """What is read and what is not: one pattern that takes the place of another may match the same topics."""
    gone, added = sorted(old - new), sorted(new - old)
    if len(gone) == len(added) == 1 and name in {*gone, *added}:
        return {
            "now_read": f"pattern {gone[0]} → {added[0]}",
            "not_read": f"each topic that pattern {gone[0]} matches and {added[0]} does not",
        }
    return {"now_read": f"pattern {name} is new", "not_read": f"{'pattern' if name in old else 'topic'} {name}"}


def _needed(side: Side) -> set[str]:
    """The topics that a store is made of which may not be lost."""
    stores = side.declared.stores
    return {
        topic
        for store, role in store_roles(side.topology).items()
        if store not in stores or not stores[store].loss_acceptable
        for topic in role.inputs
    }


def sinks(compared: Compared) -> Iterator[Subject]:
    """External topics that are written: by a sink that stays, to the same topic or to another."""
    internal = compared.before.internal | compared.after.internal
    seen: set[tuple[str, str]] = set()
    back = read_back(compared.after)
    for was, name in compared.operators.pairs:
        one, other = target_of(compared.before.nodes[was]), target_of(compared.after.nodes[name])
        if not one or not other or {one, other} & internal or (one, other) in seen:
            continue
        seen.add((one, other))
        yield _sink(compared, one, other, back)
    # A sink that is also renamed has no counterpart: its records may now go to another topic.
    paired = {name for pair in seen for name in pair}
    gone = sorted(compared.before.written() - compared.after.written() - paired)
    come = sorted(compared.after.written() - compared.before.written() - paired)
    for number, one in enumerate(gone if come else ()):
        yield _sink(compared, one, come[min(number, len(come) - 1)], back)
    for name in come if not gone else come[len(gone) :]:
        yield _sink(compared, name, name, back, added=True)


def _sink(compared: Compared, one: str, other: str, back: Collection[str], *, added: bool = False) -> Subject:
    """The fate of the records written to a topic; `back` are those that the application itself has state from."""
    declared, asked = _declared(compared, one, other)
    changes, missing, by = partitioners(compared, one, other)
    declared["partitioner_changed"], asked["partitioner_changed"] = changes, missing
    chosen_before, chosen = one not in compared.before.writers, other not in compared.after.writers
    if added or (one != other and (chosen_before or chosen)):
        # Records that go to topics chosen by code have no topic to compare.
        declared = dict.fromkeys(declared, False)
    elif chosen:
        # Its name is that of a class: there is no topic to ask about, and what is declared under it is compared.
        declared = {fact: found or False for fact, found in declared.items()}
    facts: dict[str, Fact] = {
        "added": added,
        "topic_changed": one != other,
        "fed_by_other": one == other and other in compared.written_by_other,
        "stateful": compared.stateful,
        "read_back": other in back,
        "extracted": chosen,
        **declared,
    }
    said = {**_said(compared, one, other), **by, "sinks": ", ".join(compared.after.sinks[other])}
    if chosen_before and not added:
        said["before"] = _CHOSEN
    return Subject("sink", other, facts, said, asked)


def _declared(compared: Compared, old: str, new: str) -> DeclaredFacts:
    before, after = compared.before.declared.topics.get(old), compared.after.declared.topics.get(new)
    if before is not None and after is not None:
        before, after = _of_default(compared.before, before, after), _of_default(compared.after, after, before)
    facts, asked = topic_facts(new, before, after, compared.after.declared.unchanged)
    if unread := _without_extractor(compared, old, new):
        facts["extractor_changed"] = None
        asked["extractor_changed"] = (Undeclared(f"topics.{new}", "timestamp_extractor", unread),)
    return facts, asked


def _of_default(side: Side, topic: DeclaredTopic, other: DeclaredTopic) -> DeclaredTopic:
    """The topic with the class of the settings, if the program sets no extractor of timestamps and `other` has one."""
    config = side.declared.config
    if topic.timestamp_extractor != DEFAULT or other.timestamp_extractor in {None, DEFAULT} or config is None:
        return topic
    if EXTRACTOR in side.declared.settings_not_read:
        return topic
    return replace(topic, timestamp_extractor=config.get(EXTRACTOR, DEFAULTS[EXTRACTOR]))


def _without_extractor(compared: Compared, old: str, new: str) -> str:
    """The versions whose extractor of a topic could not be read, and is not declared."""
    unread = []
    for side, topic, label in ((compared.before, old, "old"), (compared.after, new, "new")):
        declared = side.declared.topics.get(topic)
        known = declared is not None and declared.timestamp_extractor is not None
        if not known and f"topics.{topic}.timestamp_extractor" in side.declared.not_read:
            unread.append(label)
    return ", ".join(unread)


def _is_changelog(side: Side, topic: str, restoring: Collection[str]) -> bool | None:
    """Whether a topic is the changelog of a store that reads it; `restoring` are those that are known to be one."""
    if topic in restoring or side.declared.was_read:
        return topic in restoring
    tables = source_tables(side).get(topic, False)
    if side.declared.config is not None and REUSE not in optimized(side.declared.config):
        return False
    return None if side.declared.config is None and tables is not False else tables


def _read_together(side: Side) -> dict[str, list[set[str]]]:
    """For each topic the topics of each subtopology that reads it, if the subtopology has a store."""
    found: dict[str, list[set[str]]] = {}
    for sub in side.topology.subtopologies:
        topics = {topic for source in sub.sources for topic in source.topics}
        for topic in topics if sub.stores else ():
            found.setdefault(topic, []).append(topics)
    return found


def _joined_now(compared: Compared) -> dict[str, set[str]]:
    """For each topic those that it is joined with since this change, as far as the descriptions show it.

    Two topics that are joined through a third may be joined with each other: a new join next to theirs asks.
    What may be a suppression in front of a join before the change may have kept the topics apart.
    """
    old, new = compared.before, compared.after
    before = joins(old.topology, candidates(old))
    after = joins(new.topology, new.declared.suppressions.keys())
    found: dict[str, set[str]] = {}
    for group in joined_topics(new.topology, new.declared.suppressions.keys()):
        if all(join in before for join in after if join <= group):
            continue
        for topic in group:
            known = set().union(*(one for one in before if topic in one))
            found[topic] = group - known - {topic}
    return found


def _uneven(
    compared: Compared, topic: str, together: Iterable[set[str]], joined: Collection[str]
) -> tuple[bool | None, tuple[Undeclared, ...]]:
    """Whether a topic and one that it is joined with have different partition counts since this change.

    Else what to declare: the partitions of those that are joined since this change, or the join. Topics of one
    subtopology with counts that were equal and now differ may be joined: a name hides it. `joined` are topics that it
    is joined with since this change, as far as the descriptions show it.
    """
    before, after = compared.before.declared.topics, compared.after.declared.topics
    own = after.get(topic, DeclaredTopic())
    others = own.joined_with
    count = partial(_count, after)
    known = before.get(topic, DeclaredTopic()).joined_with
    come = set(joined) if others is None else others - known if known is not None else others & set(joined)
    # The library gives a repartition topic the number of those that it is joined with, unless the program gives it one.
    counted = sorted(one for one in come if one not in compared.after.internal or count(one) is not None)
    lacking = [one for one in (topic, *counted) if count(one) is None] if counted else []
    if others is not None and any(_differ(count(topic), count(other)) for other in others):
        return True, ()
    if others is not None or lacking:
        return (None if lacking else False), tuple(Undeclared(f"topics.{one}", "partitions", "new") for one in lacking)
    parted = count(topic) is not None and any(
        _differ(count(topic), count(other))
        and (other in joined or not _differ(_count(before, topic), _count(before, other)))
        for near in together
        for other in near
    )
    return (None if parted else False), (Undeclared(f"topics.{topic}", "joined_with", "new"),)


def _uneven_with(compared: Compared, topic: str) -> str:
    """The topics that a topic is joined with and their partitions, where they differ from its own."""
    after = compared.after.declared.topics
    own = _count(after, topic)
    others = sorted(after[topic].joined_with or ()) if topic in after else []
    uneven = [f"{other} has {count}" for other in others if _differ(own, count := _count(after, other))]
    return f"it has {own} partitions, {', '.join(uneven)}" if uneven else "their counts differ"


def _count(topics: Mapping[str, DeclaredTopic], topic: str) -> int | None:
    return topics[topic].partitions if topic in topics else None


def _differ(one: int | None, other: int | None) -> bool:
    return one is not None and other is not None and one != other


def _said(compared: Compared, old: str, new: str) -> dict[str, str]:
    readers = [
        reader
        for side in (compared.before, compared.after)
        for topic in (old, new)
        if (declared := side.declared.topics.get(topic))
        for reader in declared.readers
    ]
    known = ", ".join(dict.fromkeys(readers)) or "not declared (topics.*.readers)"
    was, now = compared.before.declared.topics.get(old), compared.after.declared.topics.get(new)
    return {"name": new, "before": old, "readers": known, **topic_words(was, now)}
