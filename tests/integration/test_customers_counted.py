"""The releases of the flush on a real broker: a needless repartition topic goes, and what was unread in it is lost.

No runbook: both are changed by hand, once with the topic read to its end and once without.
"""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from kstreams_runbooks.demo.traffic.produce import generate
from kstreams_runbooks.demo.traffic.records import update_of
from kstreams_runbooks.demo.traffic.schedule import Schedule
from kstreams_runbooks.demo.traffic.topics import topic_names
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.observe import ClusterReader
from lab import application, kafka
from lab.afresh import afresh, empty_group
from lab.application import WITH_REPARTITION, WITHOUT_REPARTITION, Deployed
from lab.judge import judged
from lab.stack import Stack
from lab.supervise import until

pytestmark = pytest.mark.long

GROUP = "orders"
REPARTITION = "orders-customers-counted-repartition"
OUTPUTS = ["running", "windowed", "enriched", "per-customer", "customers-counted"]
# As many updates as orders: a tenth of a second of them is on its way through the repartition topic at any moment.
_RATE, _CUSTOMERS, _EVERY = 250, 400, 1
_UNDER_WAY_S = 10


@pytest.fixture
def counting(stack: Stack) -> Stack:
    """The release with the repartition topic, from nothing."""
    afresh(stack, Deployed(release=WITH_REPARTITION))
    return stack


@contextmanager
def traffic(stack: Stack) -> Iterator[None]:
    """Orders and updates of customers while the body runs, all acknowledged behind it."""
    over = threading.Event()
    schedule = Schedule(1, _RATE, _CUSTOMERS, int(time.time() * 1000), customer_every=_EVERY)
    config = {"bootstrap.servers": stack.lab.bootstrap}
    sender = threading.Thread(target=generate, args=(config, topic_names(), schedule), kwargs={"stop": over.is_set})
    sender.start()
    try:
        yield
    finally:
        over.set()
        sender.join()


def change(stack: Stack) -> list[str]:
    """Stop every instance, empty the group, start the other release; return the updates that nothing reads any more."""
    names = Deployed().names
    stack.supervisor.stop(*names)
    empty_group(stack.lab.bootstrap, GROUP)
    left = unread(stack)
    application.write_instances(stack.lab, Deployed(release=WITHOUT_REPARTITION))
    stack.supervisor.start(*names)
    application.wait_running(stack.lab, stack.supervisor, names)
    return left


def read_up_to(stack: Stack) -> dict[int, int]:
    """What the group has committed on the repartition topic, by partition."""
    with ClusterReader({"bootstrap.servers": stack.lab.bootstrap}) as reader:
        committed = reader.committed([GROUP])[GROUP]
    assert not isinstance(committed, Missing)
    return {partition: one.offset for (topic, partition), one in committed.items() if topic == REPARTITION}


def unread(stack: Stack) -> list[str]:
    """The updates in the repartition topic behind the offsets that the group has committed."""
    committed = read_up_to(stack)
    found = []
    for message in kafka.records(stack.lab.bootstrap, REPARTITION):
        partition, offset, value = message.partition(), message.offset(), message.value()
        assert partition is not None
        assert offset is not None
        assert value is not None
        if offset >= committed[partition]:
            update = json.loads(value)
            found.append(update_of(update["customer"], update["seq"]))
    return sorted(found)


def test_a_repartition_topic_read_to_its_end_goes_without_a_trace(counting: Stack) -> None:
    """Five outputs, every record of a customer counted once, before and after the change."""
    with traffic(counting):
        time.sleep(_UNDER_WAY_S)
    kafka.wait_drained(counting.lab.bootstrap, GROUP)
    assert change(counting) == []
    with traffic(counting):
        time.sleep(_UNDER_WAY_S)
    judgement = judged(counting)
    print({output["output"]: (output["expected"], output["seen"]) for output in judgement.document["outputs"]})
    assert [output["output"] for output in judgement.document["outputs"]] == OUTPUTS
    assert (judgement.code, judgement.faults()) == (0, {})
    counted = judgement.document["outputs"][-1]
    assert counted["seen"] == judgement.document["customers_seen"] > 2 * _CUSTOMERS


def test_without_the_flush_exactly_the_unread_records_are_lost(counting: Stack) -> None:
    """Every instance RUNNING, no exception, four outputs right; the judge names update by update what is missing."""
    with traffic(counting):
        until(lambda: len(read_up_to(counting)) == kafka.PARTITIONS, 60, "every partition is read")
        time.sleep(_UNDER_WAY_S)
        left = change(counting)
        time.sleep(_UNDER_WAY_S)
    judgement = judged(counting, orphan=REPARTITION)
    print(f"{len(left)} updates left in {REPARTITION}:", judgement.faults())
    assert left
    assert (judgement.code, judgement.faults()) == (1, {"customers-counted": {"missing": len(left)}})
    counted = judgement.document["outputs"][-1]
    assert sorted(one["detail"].split()[1] for one in counted["offences"]) == left
