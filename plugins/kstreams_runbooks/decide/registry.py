"""Every decision that leaves evidence, by name, so that it can be made again from what was kept."""

from collections.abc import Callable
from typing import Any

from kstreams_runbooks.decide.approval import may_approve, may_request
from kstreams_runbooks.decide.bump_plan import bump_plan
from kstreams_runbooks.decide.check import ready_for_change
from kstreams_runbooks.decide.conclusion import conclusion
from kstreams_runbooks.decide.deployed import deployed
from kstreams_runbooks.decide.described_change import described_change
from kstreams_runbooks.decide.drain import certified, drained
from kstreams_runbooks.decide.draining import read_up_to
from kstreams_runbooks.decide.emptiness import group_is_empty
from kstreams_runbooks.decide.gate import gate
from kstreams_runbooks.decide.guards import nothing_drifted
from kstreams_runbooks.decide.left_unread import nothing_left
from kstreams_runbooks.decide.members import every_member_runs
from kstreams_runbooks.decide.restart_plan import restart_plan
from kstreams_runbooks.decide.roll_preflight import may_be_rolled
from kstreams_runbooks.decide.topics_fit import topics_fit
from kstreams_runbooks.decide.undo_plan import undo_plan
from kstreams_runbooks.decide.verification import change_verified, undo_verified

DECISIONS: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        may_request,
        ready_for_change,
        described_change,
        may_be_rolled,
        topics_fit,
        bump_plan,
        restart_plan,
        undo_plan,
        may_approve,
        deployed,
        gate,
        every_member_runs,
        nothing_drifted,
        group_is_empty,
        drained,
        certified,
        read_up_to,
        nothing_left,
        change_verified,
        undo_verified,
        conclusion,
    )
}
