"""Whether orphaned topics may be emptied up to the ends that a certificate proves read: no record may be lost."""

from kstreams_runbooks.model.readings.emptying import CertifiedTopics, EmptyingSeen
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.wording import first_of


def may_be_emptied(certified: CertifiedTopics, seen: EmptyingSeen, group: str) -> Verdict:
    """Refused if one of these topics is read, has grown since, or has a record that `group` would still read.

    An offset of the group that has expired since the certificate does not matter: the certificate has seen it. One that
    was set back refuses it. Inconclusive if any of it is unknown.
    """
    refused = [
        *(
            f"{name} has a readable record at offset {offset:,}, behind its certified end {certified.ends[name]:,} "
            "(expected none): a producer has written to it since; find it, then trigger a new run of the flush"
            for name, offset in sorted(seen.grown.items())
        ),
        *(
            f"{name}: the committed offset of group {group} is before the readable record at offset {offset:,}, and "
            f"the certificate ends at {certified.ends[name]:,} (expected nothing left to read): the offset was set "
            "back; find out why before the record is deleted"
            for name, offset in sorted(seen.unread.items())
        ),
        *seen.readers,
    ]
    if refused:
        return Verdict(Outcome.REFUSE, (*refused, *seen.unknown))
    if seen.unknown:
        return Verdict(Outcome.INCONCLUSIVE, seen.unknown)
    topics = first_of(sorted(certified.ids))
    return Verdict(Outcome.PROCEED, (f"{topics}: no reader, and no readable record behind the certified ends",))
