"""The page of all rights as Markdown, generated from the rows."""

from collections.abc import Iterator

from kstreams_runbooks.model.rights import Right

_HEAD = """\
# Rights on the Kafka cluster

Every call to a Kafka cluster with the right that it needs, and what is answered without it. This page is printed from
`plugins/kstreams_runbooks/rules/rights.yaml` by `make docs`; a test fails if it is out of date, and
`tests/hostile/test_rights.py` takes each right away on a broker with StandardAuthorizer that denies by default.
A topic or group that a login may not see never counts as absent: [security](security.md).

On a broker Read, Write, Alter and Delete on a resource allow Describe of it, and AlterConfigs allows DescribeConfigs.

`kstreams-runbooks rights RUNBOOK --application NAME` prints the ACLs of one runbook as commands, no more than it needs.
A call with a line *with the form* is made in runs with these values alone; give them as `--param mode=offsets`. The
observer, the operator and Spark use the login of the cluster's connection; the application has its own. *Every runbook*
is every DAG that changes an application. `readiness` compares these rights with what the cluster grants. The first step
of a run refuses without one of them, before anything is changed.
"""


def rights_page(rows: tuple[Right, ...]) -> str:
    """The page; the same rows give the same page."""
    return "\n".join((*_page(rows), ""))


def _page(rows: tuple[Right, ...]) -> Iterator[str]:
    yield _HEAD
    yield from (
        "## By right",
        "",
        "| right | on | logins | calls | commands, DAGs and steps |",
        "|---|---|---|---|---|",
    )
    for words in sorted({row.words for row in rows}):
        same = [row for row in rows if row.words == words]
        on = "; ".join(dict.fromkeys(row.scope for row in same if row.scope)) or "–"
        users = ", ".join(sorted({user for row in same for user in row.used_by}))
        logins = ", ".join(sorted({row.by for row in same}))
        yield f"| {words} | {on} | {logins} | {', '.join(row.id for row in same)} | {users} |"
    yield from ("", "## By call")
    for row in rows:
        yield from ("", f"### {row.id}", "", f"- call: {row.call} ({row.request})")
        yield f"- right: **{row.words}**{f', {row.scope}' if row.scope else ''}"
        yield f"- login: {row.by}"
        yield f"- used by: {', '.join(row.used_by)}"
        if forms := [key for key, words in row.names_of.items() if " " in key and words]:
            yield f"- with the form: {'; '.join(f'`{form}`' for form in forms)}"
        yield f"- without it the broker: {row.broker}"
        yield f"- without it the answer: {row.answer}"
        yield f"- source: {row.source}"
