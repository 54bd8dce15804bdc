"""What becomes of suppress operators: those declared, those that a generated name tells, and those that may be one."""

from collections.abc import Iterator

from kstreams_runbooks.decide.compared import Compared, Version
from kstreams_runbooks.decide.declared_facts import changed, duration, sides
from kstreams_runbooks.decide.generated_names import is_generated, stem
from kstreams_runbooks.decide.store_before import between_store_and, store_before
from kstreams_runbooks.decide.suppress_memory import estimate, factor, fits
from kstreams_runbooks.model.declaration import DeclaredSuppression, Window
from kstreams_runbooks.model.topology import Processor
from kstreams_runbooks.model.topology_change import Fact, Missing, Subject

_GENERATED = "KTABLE-SUPPRESS-"
_FINAL = "until_window_closes"


def suppressions(compared: Compared) -> Iterator[Subject]:
    """Each suppress operator; one that gets another name is one that goes and one that comes."""
    old, new = _candidates(compared.before), _candidates(compared.after)
    kept = {
        was: now for was, now in compared.operators.pairs if was == now or (is_generated(was) and is_generated(now))
    }
    for was, sure in old.items():
        now = kept.get(was)
        if now is None or now not in new:
            yield _one_side(compared, was, sure=sure, removed=True)
        else:
            yield _stays(compared, was, now, sure=sure or new[now])
    for name in sorted(new.keys() - {kept.get(was) for was in old}):
        yield _one_side(compared, name, sure=new[name], removed=False)


def _candidates(version: Version) -> dict[str, bool]:
    """Operators that are a suppression (True), or may be: with one store called after them, of no declared kind."""
    found: dict[str, bool] = {}
    for name, node in version.nodes.items():
        if name in version.declared.suppressions or stem(name).startswith(_GENERATED):
            found[name] = True
        elif isinstance(node, Processor) and node.stores == {f"{name}-store"}:
            store = version.declared.stores.get(f"{name}-store")
            if store is None or store.kind is None:
                found[name] = False
    return dict(sorted(found.items()))


def _one_side(compared: Compared, name: str, *, sure: bool, removed: bool) -> Subject:
    """One that comes or goes; what only may be a suppression asks what it is."""
    version = compared.before if removed else compared.after
    side = "old" if removed else "new"
    one = version.declared.suppressions.get(name)
    facts: dict[str, Fact] = {
        "added": not removed if sure or removed else None,
        "removed": removed if sure or not removed else None,
        "stays": False,
        "generated": is_generated(name),
        "mode_changed": False,
        "buffer_changed": False,
        "serde_changed": False,
        "disabled": removed and _disabled(one),
        **_of_the_new(compared, name, None if removed else one, sure=sure and not removed),
    }
    what = (Missing(f"suppressions.{name}, or stores.{name}-store.kind where it is none", "", side),)
    return Subject("suppression", name, facts, _said(compared, name, one), {"added": what, "removed": what})


def _stays(compared: Compared, was: str, name: str, *, sure: bool) -> Subject:
    old, new = compared.before.declared.suppressions.get(was), compared.after.declared.suppressions.get(name)
    facts: dict[str, Fact] = {
        "added": False,
        "removed": False,
        "stays": True,
        "generated": is_generated(name),
        "disabled": False,
        "serde_changed": _serde_changed(compared, was, name, old, new),
        "mode_changed": changed(old and (old.mode, old.time_limit_ms), new and (new.mode, new.time_limit_ms)),
        "buffer_changed": changed(old and _buffer(old), new and _buffer(new)),
        **_of_the_new(compared, name, new, sure=sure),
    }
    other = "" if sure else f", or stores.{name}-store.kind where it is none"
    what = (Missing(f"suppressions.{name}{other}", "", sides(old, new)),)
    serde = (Missing(f"suppressions.{name}", "value_serde", "old, new"),)
    asked = {"mode_changed": what, "buffer_changed": what, "serde_changed": serde}
    return Subject("suppression", name, facts, _said(compared, name, new), asked)


def _serde_changed(
    compared: Compared, was: str, name: str, old: DeclaredSuppression | None, new: DeclaredSuppression | None
) -> bool | None:
    """By what is declared; else not where nothing between the table and the suppression has come, gone or moved."""
    told = changed(old and old.value_serde, new and new.value_serde)
    if told is not None:
        return told
    before = between_store_and(compared.before.topology, was)
    return False if before == between_store_and(compared.after.topology, name) else None


def _disabled(one: DeclaredSuppression | None) -> bool:
    return one is not None and one.mode != _FINAL and one.time_limit_ms == 0


def _of_the_new(compared: Compared, name: str, one: DeclaredSuppression | None, *, sure: bool) -> dict[str, Fact]:
    """What the new version's suppression holds, and by which grace; all false where it has none."""
    before = compared.before.declared.suppressions.get(name)
    return {
        "holds": sure and not _disabled(one),
        "too_large": fits(compared.after.declared, compared.after.topology) is False and one is not None,
        "default_grace": _default_grace(compared.after, name, one),
        "default_grace_before": bool(before) and bool(_default_grace(compared.before, name, before)),
    }


def _default_grace(version: Version, name: str, one: DeclaredSuppression | None) -> bool:
    window = _window_before(version, name)
    return one is not None and one.mode == _FINAL and window is not None and not window.grace_given


def _window_before(version: Version, operator: str) -> Window | None:
    """The declared window of the nearest store before a suppress operator, None where there is none."""
    store = store_before(version.topology, version.declared, operator)
    return None if store is None else store.window


def _said(compared: Compared, name: str, one: DeclaredSuppression | None) -> dict[str, str]:
    after = compared.after.declared
    window = _window_before(compared.after, name)
    return {
        "name": name,
        "estimate": estimate(after, compared.after.topology),
        "factor": factor(after),
        "grace": "not known" if window is None else duration(window.grace_ms),
        "mode": "not declared" if one is None else one.mode.replace("_", " "),
    }


def _buffer(one: DeclaredSuppression) -> object:
    return one.max_records, one.max_bytes, one.when_full
