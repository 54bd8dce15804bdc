"""Writes to consumer groups."""

from collections.abc import Sequence

from kstreams_runbooks.act.kafka_writer import KafkaWriter
from kstreams_runbooks.errors import Refused, WriteRefused
from kstreams_runbooks.model.readings.readings import GroupReading, MemberReading, Missing
from kstreams_runbooks.observe.kafka.moving import again_while_moving

# Streams groups have no removal of members (KIP-1071); a share group is never a Streams application.
_REMOVABLE = frozenset({"classic", "consumer"})
_GONE = frozenset({"NoError", "UnknownMemberIdError"})


class GroupWriter(KafkaWriter):
    """Changes the members of groups of one cluster."""

    def remove_members(
        self, group_id: str, members: Sequence[MemberReading] = (), *, client_id_prefix: str | None = None
    ) -> tuple[MemberReading, ...]:
        """Remove exactly these members, or those whose client id begins with `client_id_prefix`; returns them.

        It skips a member that has already left the group. WriteRefused if an id belongs to another client than the
        given one, for a prefix that does not end in `-` (it would match `orders-1` and `orders-10`), and for a group
        whose members cannot be removed. Refused if the broker rejects one.
        """
        with self._reader() as reader:
            group = reader.group(group_id)
        if isinstance(group, Missing):
            raise Refused(f"members of {group_id} are not removed: {group.missing}")
        chosen = _chosen(group, members, client_id_prefix)
        if not chosen:
            return ()
        if group.type not in _REMOVABLE:
            raise WriteRefused(f"group {group_id} is a {group.type} group: its members cannot be removed")
        if self._dry_run:
            self.would_write.append(
                f"remove {len(chosen)} of {len(group.members)} members of group {group_id}: "
                f"{', '.join(member.client_id for member in chosen)}"
            )
            return chosen
        self._send(group_id, chosen)
        return chosen

    def _send(self, group_id: str, members: tuple[MemberReading, ...]) -> None:
        from kafka.admin import MemberToRemove
        from kafka.errors import BrokerResponseError

        wanted = [MemberToRemove(member.member_id, member.instance_id, "stopped by a runbook") for member in members]
        # A dry run does not reach this line; if it did, its client would refuse.
        with self._client() as client:
            try:
                # The call itself succeeds even if single members fail: each has its own error.
                # A member that the first attempt removed is among _GONE in the second.
                answer = again_while_moving(client, lambda: client.remove_group_members(group_id, wanted))
            except BrokerResponseError as error:
                raise Refused(f"group {group_id}: the broker removes no member ({type(error).__name__})") from None
        failed = {member: error.__name__ for member, error in answer.items() if error.__name__ not in _GONE}
        unanswered = {member.member_id for member in members} - set(answer)
        if failed or unanswered:
            raise Refused(
                f"group {group_id}: {len(failed) + len(unanswered)} of {len(members)} members not removed: "
                + ", ".join([*(f"{member} ({error})" for member, error in failed.items()), *sorted(unanswered)])
            )


def _chosen(
    group: GroupReading, members: Sequence[MemberReading], client_id_prefix: str | None
) -> tuple[MemberReading, ...]:
    """The members of the group that the call selects."""
    if bool(members) == bool(client_id_prefix):
        if not members and client_id_prefix is None:
            return ()
        raise WriteRefused(f"group {group.group_id}: give either members or a client id prefix that is not empty")
    if client_id_prefix:
        if not client_id_prefix.endswith("-") or client_id_prefix == f"{group.group_id}-":
            raise WriteRefused(
                f"group {group.group_id}: client id prefix {client_id_prefix!r} may fit other instances; "
                "give one client's whole id with a dash behind it"
            )
        return tuple(member for member in group.members if member.client_id.startswith(client_id_prefix))
    present = {member.member_id: member for member in group.members}
    chosen = tuple(present[member.member_id] for member in members if member.member_id in present)
    given = {member.member_id: member.client_id for member in members}
    for member in chosen:
        if member.client_id != given[member.member_id]:
            raise WriteRefused(
                f"group {group.group_id}: member {member.member_id} is {member.client_id} "
                f"(expected {given[member.member_id]}): not removed"
            )
    return chosen
