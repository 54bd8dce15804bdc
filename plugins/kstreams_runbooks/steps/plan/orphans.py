"""Keeps which changelogs a run left behind, once its change is proven."""

from kstreams_runbooks.decide.fitting.orphans import changelogs_left
from kstreams_runbooks.model.readings.orphans import KeptOrphan
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.wording import first_of


def keep_orphans(run: Run, before: ApplicationReading, after: ApplicationReading) -> None:
    """Keep in the ledger each changelog that a topology of `before` had and none of `after` has; nothing is deleted.

    `after` is the reading that proves the change: since then nothing reads them. What is unknown is only logged: it
    must not fail a change that is proven.
    """
    if run.declared.routes:
        # The shipped copier keeps no state.
        return
    left = changelogs_left(before, after, run.declared.application_id)
    if isinstance(left, Missing):
        run.say(f"changelogs left behind are not known ({left.missing}); `kstreams-runbooks orphans` shows them")
        return
    if not left:
        return
    cluster, application = run.about
    since_ms = after.taken.at_ms
    run.ledger.keep_orphans(KeptOrphan(run.key, one.name, one.topic_id, cluster, application, since_ms) for one in left)
    names = first_of([one.name for one in left])
    run.say(f"changelogs that nothing reads any more, kept for an undo: {names}; see `kstreams-runbooks orphans`")
