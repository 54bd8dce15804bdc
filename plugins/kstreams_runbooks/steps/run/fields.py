"""The fields of runbooks: what their forms have next to the fields of every runbook (form.py)."""

from airflow.sdk import Param

from kstreams_runbooks.fleet import application_names, release_names
from kstreams_runbooks.model.topology.declaration import Unchanged

# Meaning of each field that a declaration's `unchanged` may name.
_UNCHANGED: dict[Unchanged, str] = {
    "key": "key: what the keys of stores and topics mean",
    "key_serde": "key_serde: the format of keys",
    "value_serde": "value_serde: the format of values",
    "aggregate": "aggregate: how records become the values of a store",
    "join": "join: inner, left or outer",
    "logging": "logging: which stores have a changelog",
    "timestamped": "timestamped: which stores keep a timestamp with each value",
    "other_code": "other_code: joins, filters of tables, partition counts, partitioners, extractors and suppliers",
}


def target_release() -> Param:
    """The field of the release to upgrade or downgrade to."""
    return Param(
        type="string",
        minLength=1,
        title="Target release",
        description="A release that the application's fleet entry declares, such as 4.3.1.",
        examples=list(release_names()),
    )


def restart_unchanged() -> dict[str, Param]:
    """The field of a restart without a change."""
    return {
        "restart": Param(
            False,
            type="boolean",
            title="Restart without a change",
            description="Restart every instance as it is deployed, one after another. Leave release and settings empty "
            "then.",
        )
    }


def new_deployment() -> dict[str, Param]:
    """Fields of another release or other settings on the same Kafka Streams library."""
    return {
        "release": Param(
            None,
            type=["null", "string"],
            title="Release",
            description="A release that the application's fleet entry declares, of the same Kafka Streams library. "
            "Empty: the one that runs.",
            examples=list(release_names()),
        ),
        "settings": Param(
            None,
            type=["null", "object"],
            title="Settings",
            description='As JSON, merged over those that runbooks have set before: {"num.stream.threads": 2}; null '
            "unsets one. Only settings that the fleet entry declares as settable.",
        ),
        **named_unchanged(),
        **without_topology(),
        **lost_state(),
        **late_loss(),
        **unlinked(),
    }


def lost_state() -> dict[str, Param]:
    """Fields that let a run go on although state is lost: of stores by their names, or of a recreated changelog."""
    return {
        "lose_state": Param(
            None,
            type=["null", "array", "string"],
            title="State that may be lost",
            description="Only if a run is refused because a store exists on local disks alone: exactly the stores that "
            "may begin empty, by name. The approval, the undo cards and the outcome show them.",
        ),
        "acknowledge_recreated": Param(
            None,
            type=["null", "string"],
            title="Acknowledge recreated",
            description="Only if a changelog was recreated and this run loses the state of its store: why that is "
            "acceptable. The approval shows it. Without it such a run is refused.",
        ),
    }


def without_topology() -> dict[str, Param]:
    """The field of the reason to go on although a topology was not compared."""
    return {
        "without_topology": Param(
            None,
            type=["null", "string"],
            title="Without topology",
            description="Only if the topology of a release cannot be read or compared: the reason to roll it without "
            "that look. If the topology changes, state and records may be lost. An approver has to accept it, also if "
            "approvals are automatic. Without a reason such a run is inconclusive.",
        )
    }


def late_loss() -> dict[str, Param]:
    """The field of the reason to go on although records may come too late for their windows."""
    return {
        "accept_late_loss": Param(
            None,
            type=["null", "string"],
            title="Accept late loss",
            description="Only if processing stops for so long that windows may drop records afterwards: why that is "
            "acceptable. The approval shows it, with the most that each store may drop. Without it such a run is "
            "refused (docs/holding_inputs.md).",
        )
    }


def unlinked() -> dict[str, Param]:
    """The field of the reason to start a build with a class that does not link."""
    return {
        "accept_unlinked": Param(
            None,
            type=["null", "string"],
            title="Accept unlinked classes",
            description="Only if a release is refused because a class of its topology refers to something that its "
            "Kafka does not have: why it may start all the same. The approval shows each such class. Without it such "
            "a run is refused (docs/links.md).",
        )
    }


def named_unchanged() -> dict[str, Param]:
    """The field of what a release does not change, for releases that are compared."""
    return {
        "unchanged": Param(
            None,
            type=["null", "array", "string"],
            title="Unchanged",
            description="What this release does not change, and code cannot show, such as a format that is a class of "
            "your own. A plan that is NOT KNOWN names the fields to choose. They count as unchanged of the release's "
            "declaration; the approval names you. If the two releases are known to differ, the difference counts.",
            examples=list(_UNCHANGED),
            values_display=_UNCHANGED,
        )
    }


def held_inputs() -> dict[str, Param]:
    """Fields of the switch that holds the inputs back."""
    return {
        "switch": Param(
            "swap",
            enum=["swap", "copier", "manual"],
            title="Switch",
            description="What holds the inputs. swap: the application is started on empty topics, producers go on; its "
            "fleet entry needs input_settings. copier: the copier in front of its control topic is stopped. manual: a "
            "person pauses the producers.",
        ),
        "copier": Param(
            None,
            type=["null", "string"],
            title="Copier",
            description="For switch copier: the application of the fleet (kind copier) that writes every input.",
        ),
        "empty_topics": Param(
            None,
            type=["null", "object"],
            title="Empty topics",
            description="For swap, as JSON: the topic to read in place of an input, such as "
            '{"orders": "orders-empty"}. It has to exist, to be empty, and to have as many partitions as the input. '
            "Without one the run creates a topic and deletes it at its end.",
        ),
        "without_key_check": Param(
            False,
            type="boolean",
            title="Without key check",
            description="Do not compare the keys of an input with those of the state that a repartition topic filled. "
            "The approval then names what may be lost. Without this it needs Spark (docs/partitioning.md).",
        ),
        "longest_hold_min": Param(
            None,
            type=["null", "number"],
            minimum=0,
            title="Longest hold",
            description="In minutes: a plan that may hold the inputs for longer is refused. Needed if a person acts "
            "meanwhile (switch manual, or a manual deployer).",
        ),
    }


def control_topics() -> dict[str, Param]:
    """Fields of a copier that comes in front of an application, or leaves again."""
    return {
        "mode": Param(
            "adopt",
            enum=["adopt", "abandon"],
            title="Mode",
            description="adopt: the copier fills new control topics while the application runs, then the application "
            "reads them in place of its inputs. abandon: the way back to the inputs.",
        ),
        "copier": Param(
            None,
            type=["null", "string"],
            title="Copier",
            description="The shipped copier of the fleet (kind copier, program topic-copier) whose routes lead from "
            "every input to its control topic.",
        ),
        "history": Param(
            True,
            type="boolean",
            title="With history",
            description="Mode adopt. On: the copy begins at the beginning of the inputs. Off, for streams alone: it "
            "begins at the committed offsets, and a later reset or second side lacks the records from before.",
        ),
        "without_copy_proof": Param(
            None,
            type=["null", "string"],
            title="Without copy proof",
            description="Mode adopt: why Spark does not compare each input with its control topic. The approval shows "
            "it. Without a reason the run compares them (docs/compare_topics.md).",
        ),
    }


def second_application() -> dict[str, Param]:
    """The field of a second application that starts next to the first, or goes again."""
    return {
        "mode": Param(
            "start",
            enum=["start", "cancel", "retire"],
            title="Mode",
            description="start: it reads the control topics of the first one (green_of of its fleet entry) from their "
            "beginning, and writes outputs of its own. cancel: it is stopped, and its topics, its group and its local "
            "state are deleted. retire: the same of the side that served before a cutover.",
        ),
        "partitions": Param(
            None,
            type=["null", "integer"],
            minimum=2,
            title="Partitions",
            description="Of the wider topics that it reads, which a copier of the fleet fills by key from the control "
            "topics; a multiple of theirs unless Uneven is on. Empty: it reads the control topics themselves.",
        ),
        "uneven": more_partitions()["uneven"],
    }


def both_sides() -> dict[str, Param]:
    """Fields of the side that takes over, and of the copier in front of both."""
    return {
        "green": Param(
            type="string",
            minLength=1,
            title="New side",
            description="The application of the fleet that takes over; Application is the side that serves now. "
            "green_of of one of them names the other.",
        ),
        "copier": Param(
            None,
            type=["null", "string"],
            title="Copier",
            description="The copier of the fleet that alone writes every input of both sides: its stop is the seam.",
        ),
    }


def more_partitions() -> dict[str, Param]:
    """Fields of topics that get more partitions."""
    return {
        "partitions": Param(
            type="integer",
            minimum=2,
            title="Partitions",
            description="The number that its topics get, a multiple of the present one unless Uneven is on.",
        ),
        "copier": Param(
            None,
            type=["null", "string"],
            title="Copier",
            description="The shipped copier of the fleet that alone writes every input: it goes on by key.",
        ),
        "topics": Param(
            None,
            type=["null", "string"],
            title="Inputs that grow",
            description="With commas. Empty: all inputs. An input that is joined with one of them grows too.",
        ),
        "uneven": Param(
            False,
            type="boolean",
            title="Uneven",
            description="Want a number that is not a multiple: a new partition then gets the keys of several old ones, "
            "in another order, and windows that are held back may come twice or never.",
        ),
    }


def local_state() -> dict[str, Param]:
    """The field of the local state that is deleted while every instance is down."""
    return {
        "local_state": Param(
            "stale",
            type=["null", "string"],
            title="Local state",
            description="Deleted on every instance between stop and start. stale: the task directories on which the "
            "new release may not start, as the comparison of the topologies finds them; keep: nothing; all: everything "
            "(each store restores from its topic); or directories by name: 1_*, 2_3, global.",
            examples=["stale", "keep", "all"],
        )
    }


def undone_local_state() -> dict[str, Param]:
    """The field of the local state that an undo deletes."""
    return {
        "local_state": Param(
            "stale",
            enum=["stale", "keep", "all"],
            title="Local state",
            description="Deleted on every instance between stop and start, if the undo cards name task directories. "
            "stale: the task directories that its undo cards name; keep: nothing; all: everything (it restores from "
            "the changelogs), for a clear_state command that cannot delete single directories.",
        )
    }


def unknown_cards() -> dict[str, Param]:
    """The field for undo cards that a newer release wrote."""
    return {
        "leave_unknown": Param(
            False,
            type="boolean",
            title="Leave unknown cards",
            description="Take back the other cards if some are of a kind that this release does not know. The plan "
            "has the manual way back of each of them.",
        )
    }


def undone_flush() -> dict[str, Param]:
    """The field for a flush whose new version has run."""
    return {
        "without_flush": Param(
            False,
            type="boolean",
            title="Without a flush",
            description="Undo a control_topic_flush at once, although the new version has run: records that only its "
            "internal topics have are lost. Without this the undo is refused, with the command of the flush back.",
        )
    }


def compared_release() -> dict[str, Param]:
    """Fields of the side to compare with what runs: a release as its deployer describes it, or a description."""
    return {
        "release": Param(
            None,
            type=["null", "string"],
            title="Release",
            description="A release that the application's fleet entry declares. Its topology command and its "
            "declaration describe it, and the chosen runbook deploys it.",
            examples=list(release_names()),
        ),
        "topology_file": Param(
            None,
            type=["null", "string"],
            title="Description in a file",
            description="Path on the worker, in place of the topology command: the text of Topology#describe, or "
            "topology facts (docs/facts.md).",
        ),
        "topology_text": Param(
            None,
            type=["null", "string"],
            format="multiline",
            title="Description",
            description="The text of Topology#describe or topology facts, in place of the topology command and of a "
            "file.",
        ),
        **named_unchanged(),
        **lost_state(),
        **late_loss(),
        **unlinked(),
        "dry_run": Param(
            True,
            type="boolean",
            title="Dry run",
            description="On: reads, compares and plans. It asks for no decision and starts nothing. Off: it asks an "
            "approver which runbook to start, and starts it.",
        ),
        "start_dry_run": Param(
            True,
            type="boolean",
            title="Start as a dry run",
            description="On: the chosen runbook begins as a dry run: it shows its own plan and changes nothing. OFF: "
            "IT CHANGES THE RUNNING APPLICATION, in production too, once its plan is approved.",
        ),
    }


def paused_inputs() -> dict[str, Param]:
    """Fields of the reason why no new record arrives, and of a dry run with a single reading."""
    return {
        "inputs_paused": Param(
            None,
            type=["null", "string"],
            title="Inputs paused",
            description="Who or what keeps new records away, such as: copier stopped, ticket 42. It is kept as "
            "evidence. Without it nothing can be certified: an input at its end may get new records a second "
            "later.",
        ),
        "dry_run": Param(
            False,
            type="boolean",
            title="Dry run",
            description="One reading instead of a certificate. This runbook never changes anything.",
        ),
        **late_loss(),
    }


def run_to_undo() -> dict[str, Param]:
    """The run to undo, and its application, which the ledger knows."""
    return {
        "application": Param(
            None,
            type=["null", "string"],
            minLength=1,
            title="Application",
            description="Empty: that of the run. Another one than that of the run is refused.",
            examples=list(application_names()),
        ),
        "run": Param(
            type="string",
            minLength=1,
            title="Run",
            description="Run id of the run to take back, or dag_id/run_id if two runbooks have the same id.",
        ),
    }
