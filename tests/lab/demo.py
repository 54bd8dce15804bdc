"""`make demo` and `make demo-down`: follows a real run of a runbook under traffic, and judges it from the topics.

    python -m lab.demo up|down

`RUNBOOK` (library_bump), `SWITCH` (of a flush: swap or copier), `RUN_DIR`, `PORT_BASE`, `APPROVE=me` (waits for a
person instead of answering) and `FORMAT=json` come from the environment. stdout has the result alone. Exit codes: 0
the run completed and nothing was lost or counted twice, 1 it did not, 2 the machine lacks something, 3 the judge
cannot decide, 4 a part of the stack does not answer.
"""

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from kstreams_runbooks.errors import BadInput, RunbookError, Unreachable
from kstreams_runbooks.terminal.airflow.wait import wait

from lab import adopted, cut_over, kafka, leftovers, report, started_over
from lab.airflow import APPROVER, REQUESTER, passwords
from lab.copier import COPIES
from lab.display import Display, show
from lab.follow import follow
from lab.judge import verify_traffic
from lab.neighbour import INSTANCE, start_neighbour
from lab.settings import Lab
from lab.shipped_copier import NAME, deploy, place
from lab.shown import Shown, shown
from lab.stack import TRAFFIC, Parts, Stack

APPLICATION = started_over.APPLICATION

_WARM_UP_S = 10
_COMMAND_S = 600


def up(lab: Lab, runbook: Shown, *, by_hand: bool, as_json: bool) -> int:
    """Start everything, run, judge, print; the stack stays up, unless its start failed."""
    if runbook.new_outputs:
        lab = started_over.with_own_fleet(lab)
    if runbook.cuts_over:
        lab = started_over.with_own_fleet(lab, cut_over.fields)
    elif runbook.copier:
        lab = started_over.with_own_fleet(lab, lambda _: {"control": [*COPIES.values()]})
    if runbook.adopts:
        lab = started_over.with_own_fleet(lab, lambda _: {})
    display = Display()
    sent = tuple(f"{target}={source}" for source, target in COPIES.items()) if runbook.copier else ()
    parts = Parts(runbook.deployed, spark=True, customer_every=runbook.customer_every, traffic_topics=sent)
    stack = Stack(lab, parts, display.say)
    try:
        _start(stack, runbook, display)
    except BaseException:
        stack.down()
        raise
    try:
        facts = _run(stack, runbook, display, by_hand=by_hand)
    finally:
        display.close()
    result = report.document(facts)
    (lab.run_dir / "result.json").write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    if as_json:
        print(json.dumps(result, indent=2))
    else:
        show(result)
    _say_where(lab, runbook, str(result["run"]["run_id"]))
    return exit_code(result)


def exit_code(result: dict[str, Any]) -> int:
    """0 for a completed run with nothing lost or doubled; the judge's own code if only the judge is unsure."""
    if result["ok"]:
        return 0
    return 3 if result["run"]["state"] == "success" and result["verdict"] == "inconclusive" else 1


def _start(stack: Stack, runbook: Shown, display: Display) -> None:
    stack.up()
    stack.api().wait_for_dag(runbook.dag_id, say=display.say)
    if runbook.new_outputs:
        kafka.create_topics(stack.lab.bootstrap, started_over.outputs(runbook.new_outputs).values())
        start_neighbour(stack, display.say)
    if runbook.copier:
        display.say(f"start the copier {NAME}, two instances: {', '.join(COPIES)}")
        # The demo's second login approves for both teams.
        deploy(stack, approvers=[APPROVER])
    if runbook.adopts:
        # The demo's second login approves for both teams.
        place(stack, adopted.COPIER, adopted.INSTANCES, adopted.ROUTES, approvers=[APPROVER])
    if runbook.cuts_over:
        cut_over.prepare(stack, display.say)
    else:
        stack.start_traffic()
    time.sleep(_WARM_UP_S)
    stack.supervisor.require_running(TRAFFIC)


def _run(stack: Stack, runbook: Shown, display: Display, *, by_hand: bool) -> report.Facts:
    lab, dag_id = stack.lab, runbook.dag_id
    before = _ids(stack, runbook)
    began = time.monotonic()
    run_id = f"demo-{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}"
    conf = {"application": APPLICATION, "dry_run": False, "reason": "demo", **runbook.form}
    stack.api(REQUESTER).trigger(dag_id, conf, run_id)
    display.say(f"{REQUESTER} triggered {dag_id}: {page_of(lab, runbook, run_id)}")
    if by_hand:
        display.say(f"approve it there (tab Required Actions) as {APPROVER}, password {passwords(lab)[APPROVER]}")
    state = follow(
        stack.api(),
        dag_id,
        run_id,
        approver=None if by_hand else stack.api(APPROVER),
        watch=display,
        each_time=lambda: stack.supervisor.require_running(TRAFFIC),
    )
    stack.seconds["run"] = round(time.monotonic() - began, 1)
    # Printed at once: what follows may fail too, and would hide why the run ended.
    ended = wait(stack.api(), dag_id, run_id, say=display.say, timeout_s=0)
    display.say(f"the run ended {state}: {ended.outcome or 'no outcome'}: {ended.sentence}")
    facts = _judged(stack, runbook, display, run_id, state)
    after = _ids(stack, runbook)
    internal = [report.TopicIds(name, name != APPLICATION, before[name], after[name]) for name in before]
    return replace(facts, internal=internal)


def _ids(stack: Stack, runbook: Shown) -> dict[str, dict[str, str]]:
    """The internal topics of the application and of its neighbour, with their ids; none without a neighbour."""
    names = (APPLICATION, started_over.LONGER) if runbook.new_outputs else ()
    found = {name: started_over.internal(stack.lab.bootstrap, name) for name in names}
    return {name: {one.name: one.topic_id for one in topics.values()} for name, topics in found.items()}


def _judged(stack: Stack, runbook: Shown, display: Display, run_id: str, state: str) -> report.Facts:
    lab, bootstrap = stack.lab, stack.lab.bootstrap
    began = time.monotonic()
    display.say(f"stop the traffic and let the application finish: {bootstrap}")
    stack.stop_traffic()
    if runbook.copier:
        kafka.wait_drained(bootstrap, NAME, say=display.say)
    kafka.wait_drained(bootstrap, APPLICATION, say=display.say)
    stack.seconds["drain"] = round(time.monotonic() - began, 1)
    began = time.monotonic()
    display.say("judge the outputs")
    new = runbook.new_outputs
    topics = started_over.judged_outputs(new) if new else stack.parts.traffic_topics
    judge = command(stack, *verify_traffic(bootstrap, topics), allowed={0, 1, 3})
    stack.seconds["judge"] = round(time.monotonic() - began, 1)
    downstream = cut_over.read(stack, display.say) if runbook.cuts_over else None
    evidence = command(stack, "evidence", run_id, "--format", "json", allowed={0})
    names = (*(stack.parts.deployed.names if stack.parts.deployed else ()), *([INSTANCE] if new else []))
    running = ["orders-running", *([started_over.outputs(new)["topic.running"]] if new else [])]
    return report.Facts(
        run={
            "dag_id": runbook.dag_id,
            "run_id": run_id,
            "state": state,
            "outcome": evidence["run"]["outcome"],
            "sentence": evidence["run"]["outcome_sentence"],
            "approved_by": [approval["by"] for approval in evidence["approvals"]],
        },
        judge=judge,
        rolled=report.rolled_in(evidence),
        logs={name: (lab.logs / f"{name}.log").read_text(encoding="utf-8", errors="replace") for name in names},
        inputs=[one for topic in kafka.INPUTS for one in kafka.appended(bootstrap, topic)],
        outputs=[one for topic in running for one in kafka.appended(bootstrap, topic)],
        seconds=stack.seconds,
        downstream=downstream,
    )


def command(stack: Stack, *arguments: str, allowed: set[int]) -> dict[str, Any]:
    """JSON that the terminal command prints; Unreachable with its message for another exit code."""
    done = subprocess.run(
        [str(stack.lab.command), *arguments],
        env=stack.environment(),
        capture_output=True,
        text=True,
        timeout=_COMMAND_S,
        check=False,
    )
    if done.returncode not in allowed:
        raise Unreachable(f"kstreams-runbooks {arguments[0]}: exit {done.returncode}: {done.stderr.strip()[-500:]}")
    return dict(json.loads(done.stdout))


def page_of(lab: Lab, runbook: Shown, run_id: str) -> str:
    """The run's page in Airflow's UI."""
    return f"{lab.airflow_url}/dags/{runbook.dag_id}/runs/{run_id}"


def _say_where(lab: Lab, runbook: Shown, run_id: str) -> None:
    logins = ", ".join(f"{name}/{password}" for name, password in passwords(lab).items())
    here = Path(os.path.relpath(lab.command)) if lab.command.is_relative_to(Path.cwd()) else lab.command
    for line in (
        "",
        f"Airflow    {page_of(lab, runbook, run_id)}",
        f"logins     {logins}",
        f"evidence   {here} evidence {run_id}",
        f"document   {lab.run_dir / 'result.json'}",
        f"Spark      {lab.spark_remote} (Connect; in the environment as SPARK_REMOTE)",
        f"messages   {lab.run_dir / 'notifications.jsonl'}",
        "it stays up until: make demo-down",
    ):
        print(line, file=sys.stderr)


def down(lab: Lab) -> int:
    """Stop the stack that `up` started."""
    stopped = leftovers.stop(lab)
    print("stopped" if stopped else f"nothing of {lab.run_dir} is up", file=sys.stderr)
    return 0


def main(arguments: list[str]) -> int:
    """Entry point: one sentence and an exit code for every error of our own tree."""
    try:
        lab = Lab.of()
        if arguments == ["down"]:
            return down(lab)
        if arguments != ["up"]:
            raise BadInput("usage: python -m lab.demo up|down")
        form, approve = os.environ.get("FORMAT") or "table", os.environ.get("APPROVE") or ""
        if form not in {"table", "json"}:
            raise BadInput(f"FORMAT={form}: unknown; leave it out for a table, or set FORMAT=json")
        if approve not in {"", "me"}:
            raise BadInput(f"APPROVE={approve}: unknown; leave it out, or set APPROVE=me to approve yourself")
        runbook = shown(os.environ.get("RUNBOOK") or "", os.environ.get("SWITCH") or "")
        return up(lab, runbook, by_hand=approve == "me", as_json=form == "json")
    except RunbookError as error:
        print(str(error), file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("interrupted; make demo-down stops what is still up", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
