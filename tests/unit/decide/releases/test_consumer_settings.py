"""The value of a setting of the main consumer: prefixes, sources, and the defaults of the releases."""

import pytest
from kstreams_runbooks.decide.releases.consumer_settings import POLL, SESSION, Sourced, main_consumer_ms
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.rules import release_settings


@pytest.mark.parametrize(("release", "ms"), [("2.8.2", 10_000), ("3.4.1", 45_000), ("4.3.1", 45_000)])
def test_without_a_setting_it_is_the_default_of_the_release(release: str, ms: int) -> None:
    """The default became 45 s in 3.0 (KIP-735)."""
    found = main_consumer_ms(SESSION, {}, release, release_settings())
    assert found == Sourced(ms, f"the default of Kafka Streams {release}")


def test_the_main_consumer_s_own_prefix_counts_first() -> None:
    """As Kafka Streams builds the configuration of its main consumer."""
    config = {SESSION: "1", f"consumer.{SESSION}": "2", f"main.consumer.{SESSION}": "3"}
    found = main_consumer_ms(SESSION, {"read": config}, "4.3.1", release_settings())
    assert found == Sourced(3, "read")
    del config[f"main.consumer.{SESSION}"]
    assert main_consumer_ms(SESSION, {"read": config}, "4.3.1", release_settings()) == Sourced(2, "read")
    assert main_consumer_ms(SESSION, {"read": {SESSION: " 7 "}}, "4.3.1", release_settings()) == Sourced(7, "read")


def test_of_two_sources_of_one_name_the_first_counts_and_a_prefix_before_both() -> None:
    """A deployer's setting replaces the declared one of the same name, not one with a closer prefix."""
    sources = {"set": {POLL: "1"}, "declared": {POLL: "2", f"restore.consumer.{POLL}": "9"}}
    assert main_consumer_ms(POLL, sources, "4.3.1", release_settings()) == Sourced(1, "set")
    sources["declared"][f"main.consumer.{POLL}"] = "3"
    assert main_consumer_ms(POLL, sources, "4.3.1", release_settings()) == Sourced(3, "declared")


@pytest.mark.parametrize("value", ["", "10s", "-1", "(hidden)", "1" * 40])
def test_what_is_no_number_is_not_known(value: str) -> None:
    """Neither zero nor the default."""
    found = main_consumer_ms(SESSION, {"set by its deployer": {SESSION: value}}, "4.3.1", release_settings())
    assert found == Missing(f"{SESSION} is not a number of milliseconds, set by its deployer")


def test_a_release_without_the_setting_has_no_default() -> None:
    """max.poll.interval.ms exists since 0.10.1."""
    found = main_consumer_ms(POLL, {}, "0.10.0", release_settings())
    assert found == Missing(f"{POLL} is not set, and the default of Kafka Streams 0.10.0 is not known")
