"""Every decision that leaves evidence, by name: it can be made again from its kept inputs."""

from collections.abc import Callable
from typing import Any

from kstreams_runbooks.decide.catch_up.history import history_read
from kstreams_runbooks.decide.change.defects import defects_that_bite
from kstreams_runbooks.decide.change.described import described_change
from kstreams_runbooks.decide.change.preflight import may_be_rolled
from kstreams_runbooks.decide.change.without_topology import may_stay_unread
from kstreams_runbooks.decide.drain.certificate import certified, drained
from kstreams_runbooks.decide.drain.copied import copied_exactly, nearly_copied, offsets_unmoved
from kstreams_runbooks.decide.drain.emptying import may_be_emptied
from kstreams_runbooks.decide.drain.flushed import flushed, swap_holds
from kstreams_runbooks.decide.drain.hold import may_hold
from kstreams_runbooks.decide.drain.inputs import inputs_stand_still, still_held
from kstreams_runbooks.decide.drain.marks import nothing_left, read_up_to
from kstreams_runbooks.decide.drain.move_until import may_still_move
from kstreams_runbooks.decide.drain.seam import read_to_seam, seeds_stand, sides_at_rest, still_at_seam
from kstreams_runbooks.decide.fitting.partitioning import keys_are_with_their_state
from kstreams_runbooks.decide.fitting.topics import topics_fit
from kstreams_runbooks.decide.fitting.uncommitted import uncommitted_records
from kstreams_runbooks.decide.growth.proven import growth_is_proven
from kstreams_runbooks.decide.growth.verdict import may_grow, may_grow_in_place
from kstreams_runbooks.decide.instances.check import ready_for_change
from kstreams_runbooks.decide.instances.copier_stopped import still_stopped, stopped_cleanly
from kstreams_runbooks.decide.instances.deployed import deployed
from kstreams_runbooks.decide.instances.gate import gate
from kstreams_runbooks.decide.instances.guards import nothing_drifted
from kstreams_runbooks.decide.instances.left_down import left_down
from kstreams_runbooks.decide.instances.members import every_member_runs, group_is_empty
from kstreams_runbooks.decide.instances.moved import group_has_moved, seeds_lasted
from kstreams_runbooks.decide.instances.rolling import restores_nothing
from kstreams_runbooks.decide.instances.stays_down import stays_down
from kstreams_runbooks.decide.instances.verification import change_verified, undo_verified
from kstreams_runbooks.decide.outputs.proven import copy_is_proven
from kstreams_runbooks.decide.outputs.sides import sides_are_equal
from kstreams_runbooks.decide.plans.adopt import abandon_plan, adopt_plan
from kstreams_runbooks.decide.plans.adoptable import may_abandon, may_adopt
from kstreams_runbooks.decide.plans.bump import bump_plan
from kstreams_runbooks.decide.plans.cutover import cutover_plan
from kstreams_runbooks.decide.plans.cutoverable import may_cut_over, readers_as_planned
from kstreams_runbooks.decide.plans.expected_gaps import with_expected_gaps, with_full_restores
from kstreams_runbooks.decide.plans.flush import flush_plan
from kstreams_runbooks.decide.plans.green import cancel_plan, green_plan
from kstreams_runbooks.decide.plans.greenable import may_cancel_green, may_start_green
from kstreams_runbooks.decide.plans.growth import growth_plan
from kstreams_runbooks.decide.plans.killed import after_kill
from kstreams_runbooks.decide.plans.local_state import cleared_state, state_of_undo, with_cleared_state
from kstreams_runbooks.decide.plans.longest_stop import may_stop
from kstreams_runbooks.decide.plans.only_copy import may_lose_state
from kstreams_runbooks.decide.plans.recreated import may_keep_state
from kstreams_runbooks.decide.plans.reset import reset_plan
from kstreams_runbooks.decide.plans.restart import restart_plan
from kstreams_runbooks.decide.plans.retire import retire_plan
from kstreams_runbooks.decide.plans.same_topology import may_take_over
from kstreams_runbooks.decide.plans.set_back import may_be_set_back, with_set_back
from kstreams_runbooks.decide.plans.swap import may_swap
from kstreams_runbooks.decide.plans.undo import undo_plan
from kstreams_runbooks.decide.plans.writable import may_write
from kstreams_runbooks.decide.releases.links import builds_link
from kstreams_runbooks.decide.releases.tried import takes_settings
from kstreams_runbooks.decide.reset.cleaned_up import may_clean_up, state_is_new
from kstreams_runbooks.decide.reset.cleared import state_is_gone
from kstreams_runbooks.decide.reset.offsets import may_set
from kstreams_runbooks.decide.reset.outputs import may_clean
from kstreams_runbooks.decide.reset.radius import may_reset
from kstreams_runbooks.decide.reset.rest import at_rest, unmoved
from kstreams_runbooks.decide.reset.retire import may_retire, retirement_verified, stayed_gone
from kstreams_runbooks.decide.rights.granted import has_rights
from kstreams_runbooks.decide.runs.approval import may_answer, may_approve, may_request
from kstreams_runbooks.decide.runs.conclusion import conclusion

DECISIONS: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        may_request,
        has_rights,
        ready_for_change,
        described_change,
        defects_that_bite,
        may_be_rolled,
        may_stay_unread,
        takes_settings,
        builds_link,
        topics_fit,
        uncommitted_records,
        keys_are_with_their_state,
        may_grow,
        may_grow_in_place,
        growth_plan,
        growth_is_proven,
        bump_plan,
        restart_plan,
        may_swap,
        may_adopt,
        nearly_copied,
        copied_exactly,
        offsets_unmoved,
        copy_is_proven,
        sides_are_equal,
        may_cut_over,
        cutover_plan,
        sides_at_rest,
        still_at_seam,
        read_to_seam,
        may_still_move,
        seeds_stand,
        group_has_moved,
        seeds_lasted,
        readers_as_planned,
        may_abandon,
        adopt_plan,
        abandon_plan,
        may_start_green,
        may_cancel_green,
        history_read,
        green_plan,
        cancel_plan,
        flush_plan,
        may_reset,
        reset_plan,
        at_rest,
        unmoved,
        state_is_gone,
        may_clean_up,
        state_is_new,
        may_set,
        cleared_state,
        state_of_undo,
        with_cleared_state,
        with_expected_gaps,
        with_full_restores,
        with_set_back,
        may_be_set_back,
        may_take_over,
        undo_plan,
        may_write,
        may_keep_state,
        may_lose_state,
        after_kill,
        may_clean,
        may_retire,
        retire_plan,
        stayed_gone,
        retirement_verified,
        may_hold,
        may_stop,
        inputs_stand_still,
        still_held,
        may_approve,
        may_answer,
        deployed,
        gate,
        restores_nothing,
        stays_down,
        every_member_runs,
        nothing_drifted,
        group_is_empty,
        stopped_cleanly,
        still_stopped,
        left_down,
        drained,
        certified,
        flushed,
        swap_holds,
        may_be_emptied,
        read_up_to,
        nothing_left,
        change_verified,
        undo_verified,
        conclusion,
    )
}
