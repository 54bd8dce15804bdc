"""A team's deploy script, for the deployer `command`."""

# What a team might have: one program for every verb, processes of its own, one file per instance for what is set.
DEPLOY = r"""
import json, os, signal, subprocess, sys, time
from pathlib import Path

here, verb, *rest = sys.argv[1:]
here = Path(here)
(here / "calls").open("a").write(json.dumps([verb, *rest]) + "\n")

def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"

def one(directory):
    set_ = json.loads((directory / "set.json").read_text())
    run = json.loads((directory / "run.json").read_text()) if (directory / "run.json").exists() else None
    up = run is not None and alive(run["pid"])
    return {
        "instance": directory.name,
        "process": "running" if up else "stopped",
        "started_at_ms": run["started_at_ms"] if up else None,
        "pid": run["pid"] if up else None,
        "release": set_["release"],
        "settings": set_["settings"],
        "applied": run["set"] == set_ if up else None,
        "missing": "" if up else "it does not run",
    }

def show(*directories):
    print(json.dumps({"schema_version": 1, "instances": [one(each) for each in directories]}))

if verb == "instances":
    show(*sorted(path.parent for path in here.glob("*/set.json")))
    sys.exit(0)
if verb == "topology":
    print(json.dumps({"schema_version": 1, "release": rest[0], "topology": f"Topologies:\n {rest[0]} {rest[1]}\n"}))
    sys.exit(0)
directory = here / rest[0]
if (directory / "refuses").exists():
    sys.exit(f"no, {verb} of {rest[0]} is forbidden, password=hunter2 at https://me:hunter2@host/")
if (directory / f"lies-{verb}").exists():
    # It prints what it was asked for, and does nothing, or half of it.
    shown = one(directory)
    if verb == "stop":
        shown |= {"process": "stopped", "started_at_ms": None, "pid": None, "applied": None, "missing": "it is down"}
    elif verb == "start":
        run = json.loads((directory / "run.json").read_text())
        shown |= {"process": "running", "started_at_ms": run["started_at_ms"], "pid": run["pid"], "applied": True}
    elif verb == "apply":
        (directory / "set.json").write_text(json.dumps({"release": rest[1], "settings": {}}))
        shown |= {"release": rest[1], "settings": json.loads(rest[2])}
    print(json.dumps({"schema_version": 1, "instances": [shown]}))
    sys.exit(0)
if verb == "apply" and (directory / "forgets").exists():
    (directory / "set.json").write_text(json.dumps({"release": rest[1], "settings": {}}))
elif verb == "apply":
    (directory / "set.json").write_text(json.dumps({"release": rest[1], "settings": json.loads(rest[2])}))
elif verb == "start":
    program = "import time; time.sleep(600)"
    # Left in the background with this script's own stdout, as careless scripts do.
    child = subprocess.Popen([sys.executable, "-c", program], start_new_session=True)
    state = {"pid": child.pid, "started_at_ms": time.time_ns() // 1_000_000}
    state["set"] = json.loads((directory / "set.json").read_text())
    (directory / "run.json").write_text(json.dumps(state))
elif verb == "stop":
    run = json.loads((directory / "run.json").read_text())
    if not (directory / "stubborn").exists():
        time.sleep(0.3)
        os.kill(run["pid"], signal.SIGKILL)
        while alive(run["pid"]):
            time.sleep(0.01)
elif verb == "clear_state":
    for pattern in rest[1].split(",") if len(rest) > 1 else ["*"]:
        for path in (directory / "state").glob(pattern):
            path.unlink()
show(directory)
"""
