"""Names on the cluster and on the disks after a change; every text is what the real library printed."""

from kstreams_runbooks.decide.name_prediction import Prediction, predicted
from pairs import described


def prediction(pair: str) -> Prediction:
    return predicted(*described(pair), "app")


def test_a_shifted_number_creates_one_changelog_and_leaves_one_behind() -> None:
    """The guide's first example."""
    store = "app-KSTREAM-AGGREGATE-STATE-STORE-{:010}-changelog"
    assert prediction("filter-before-unnamed-count") == Prediction(
        created=(store.format(2),), orphaned=(store.format(1),), kept=(), moved=(), stale_directories=()
    )


def test_a_new_repartition_topic_moves_the_store_behind_it() -> None:
    """The guide's second example: the changelog stays, and is restored in another task directory."""
    assert prediction("daily-orders-grouped-by-cleaned-key") == Prediction(
        created=("app-GroupOrders-repartition",),
        orphaned=(),
        kept=("app-orders-changelog",),
        moved=("orders",),
        stale_directories=(),
    )


def test_a_subtopology_less_leaves_its_directories() -> None:
    """And the topic between the two."""
    found = prediction("group-by-to-group-by-key")
    assert found.orphaned == ("app-by-user-repartition",)
    assert found.stale_directories == ("1_",)


def test_a_global_store_has_neither_changelog_nor_tasks() -> None:
    """It takes the number 0, so that everything else moves."""
    found = prediction("global-table-added-before-stream")
    assert found.created == ()
    assert found.moved == ("payments-store",)
    assert found.stale_directories == ("0_",)
