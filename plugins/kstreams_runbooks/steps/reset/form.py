"""The fields of a reset in the form of its DAG."""

from airflow.sdk import Param


def reset_targets() -> dict[str, Param]:
    """Fields of a reset: its mode, the offset that each input is read from, and the internal topics."""
    return {
        "mode": Param(
            "reset",
            enum=["reset", "offsets", "state", "retire"],
            title="Mode",
            description="reset: internal topics and local state go, the inputs are read from their targets. offsets: "
            "only the offsets of the named inputs change, state stays. state: local state goes and is restored from "
            "the changelogs. retire: internal topics that nothing needs any more go for good, nothing is stopped.",
        ),
        "targets": Param(
            None,
            type=["null", "object"],
            title="Targets",
            description='As JSON, for each input the offset to read it from: {"orders": "-2h or latest", "*": '
            '"earliest"}; * is every input that is not a table and not named. earliest, latest, a time '
            '(2026-11-01T00:00:00Z), a duration back (-1d12h), a shift (-100), an offset (1234), {"0": 1234}, run:RUN '
            "or file:PATH. Empty in mode reset: earliest.",
        ),
        "most_lost": Param(
            0,
            type=["null", "integer"],
            minimum=0,
            maximum=2**53 - 1,
            title="Most lost",
            description="In offsets over all partitions: if retention deletes more than this between the plan and the "
            "write of the offsets, the run ends before that write.",
        ),
        "create_internal_topics": Param(
            True,
            type="boolean",
            title="Create internal topics",
            description="Mode reset: the run creates the internal topics before the start, as Kafka Streams would. "
            "Without this the application creates them in its first rebalance.",
        ),
        "directories": Param(
            None,
            type=["null", "string"],
            title="Task directories",
            description="Mode state: only these task directories go, such as 1_*, 2_3, global. Empty: all local state.",
        ),
        "cleared_by": Param(
            "deployer",
            enum=["deployer", "application"],
            title="Cleared by",
            description="Modes reset and state. deployer: it deletes local state, which is seen gone before the start. "
            "application: the program does with KafkaStreams#cleanUp, for which its fleet entry declares clean_up; it "
            "is seen right after each start.",
        ),
        "clean_outputs": Param(
            None,
            type=["null", "array"],
            items={"type": "string"},
            title="Clean outputs",
            description="Outputs whose records the run deletes, last before the start, up to the ends that the plan "
            "shows. Every group that reads one has to have read up to there.",
        ),
        "retire": Param(
            "orphans",
            enum=["orphans", "application"],
            title="Retire",
            description="Mode retire. orphans: the topics that `kstreams-runbooks orphans` lists, once they have been "
            "kept for orphan_quarantine_days. application: all internal topics and the group of an application out of "
            "use.",
        ),
    }
