"""Global stores whose files on the disks do not fit the new version."""

from kstreams_runbooks.decide.comparison.compared import Compared


def left_behind(compared: Compared) -> dict[str, str]:
    """What becomes of each topic whose global store on the disk the new version does not have, or fills from another.

    Nothing is left behind if the new version has no global store, since it does not open their directory. A store in
    memory has no files.
    """
    before, after = compared.before.global_stores, compared.after.global_stores
    if not after:
        return {}
    readers = {store: topic for topic, stores in after.items() for store in stores}
    found = {}
    for topic, stores in before.items():
        gone = [store for store in stores if readers.get(store) != topic and _on_disk(compared, store)]
        if gone:
            found[topic] = "; ".join(_fate(topic, store, readers.get(store), after.get(topic, ())) for store in gone)
    return found


def _fate(topic: str, store: str, now: str | None, others: tuple[str, ...]) -> str:
    if now is not None:
        return f"global store {store} reads {now} instead of {topic}"
    if others:
        return f"the global store of topic {topic} is {', '.join(others)} instead of {store}"
    return f"global store {store} of topic {topic} is removed"


def _on_disk(compared: Compared, store: str) -> bool:
    declared = compared.before.declared.stores.get(store)
    return declared is None or declared.on_disk
