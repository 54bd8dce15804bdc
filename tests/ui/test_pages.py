"""What a person reads in Airflow's pages, in a real browser: the trigger form, the approval, the grid."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from lab.airflow import passwords
from lab.stack import Stack
from playwright.sync_api import Page, expect, sync_playwright
from world.runs import DAG, question, trigger

_WIDTH, _HEIGHT = 1280, 900
# Where to keep pictures of the pages for somebody who wants to look at them.
_PICTURES = os.environ.get("PICTURES")
# A page of Airflow takes seconds to come, on a busy machine many.
expect.set_options(timeout=60_000)


@pytest.fixture(scope="module")
def page(stack: Stack) -> Iterator[Page]:
    """A browser that is signed in as the approver."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert chromium, "no chromium at PATH; install it (Debian: apt-get install chromium) for the browser test"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium,
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"],
        )
        page = browser.new_page(viewport={"width": _WIDTH, "height": _HEIGHT})
        page.set_default_timeout(60_000)
        page.goto(f"{stack.lab.airflow_url}/")
        page.locator("input[name=username]").fill("approver")
        page.locator("input[name=password]").fill(passwords(stack.lab)["approver"])
        page.locator("button[type=submit], input[type=submit]").first.click()
        # Whoever goes on before the answer is there is sent back to sign in.
        page.wait_for_url(lambda url: "/auth/login" not in url)
        yield page
        browser.close()


def keep(page: Page, name: str) -> None:
    if _PICTURES:
        page.screenshot(path=str(Path(_PICTURES) / f"{name}.png"), full_page=True)


def assert_readable(page: Page) -> None:
    """No raw value leaked into the text, and nothing is wider than the screen."""
    text = page.locator("body").inner_text()
    assert "None" not in text
    assert "{'" not in text
    assert page.evaluate("document.documentElement.scrollWidth") <= _WIDTH


def test_the_form_asks_for_application_and_target_and_starts_with_dry_run(stack: Stack, page: Page) -> None:
    """Safe by default, with help texts, limits folded away."""
    page.goto(f"{stack.lab.airflow_url}/dags/{DAG}")
    page.get_by_role("button", name="Trigger").click()
    expect(page.get_by_text("It has no default, on purpose.").first).to_be_visible()
    text = page.locator("body").inner_text()
    for words in (
        "Application",
        "Application of the fleet. It has no default, on purpose.",
        "Target release",
        "Dry run",
        "It changes nothing and asks for no approval.",
        "Reason or ticket",
        "Limits",
    ):
        assert words in text, words
    keep(page, "form")
    assert_readable(page)


def test_the_form_of_a_certificate_asks_why_nothing_new_arrives(stack: Stack, page: Page) -> None:
    """It changes nothing, so it looks for real at once; without a reason it could certify nothing."""
    page.goto(f"{stack.lab.airflow_url}/dags/certify_drain")
    page.get_by_role("button", name="Trigger").click()
    expect(page.get_by_text("Who or what keeps new records away").first).to_be_visible()
    text = page.locator("body").inner_text()
    for words in ("Application", "Inputs paused", "One reading instead of a certificate.", "Limits"):
        assert words in text, words
    keep(page, "form-of-a-certificate")
    assert_readable(page)


@pytest.mark.usefixtures("orders")
def test_the_approval_says_what_will_happen_and_how_to_go_back(stack: Stack, page: Page) -> None:
    """15 lines at most, with the plan's digest."""
    run_id = trigger(stack)
    body = question(stack, run_id)["body"]
    assert len([line for line in body.splitlines() if line]) <= 15
    page.goto(f"{stack.lab.airflow_url}/dags/{DAG}/runs/{run_id}/tasks/approve_plan/required_actions")
    expect(page.get_by_text("Will do:", exact=False).first).to_be_visible()
    text = page.locator("body").inner_text()
    for words in (
        "[orders @ demo] approve library bump to 4.3.1",
        "Now:",
        "bounce 1: 4.3.1 with upgrade.from=3.4",
        "Worst case:",
        "Undo:",
        "Reject means: nothing is changed",
        "may approve: approver, admin",
        "Plan digest:",
        "Why you answer this, or a ticket.",
        "Approve",
        "Reject",
    ):
        assert words in text, words
    # oncall asked, and may not approve: no reason would make that answer count.
    assert "Emergency reason" not in text
    keep(page, "approval")
    assert_readable(page)
    page.goto(f"{stack.lab.airflow_url}/dags/{DAG}/runs/{run_id}")
    expect(page.get_by_text("approve_plan").first).to_be_visible()
    keep(page, "grid")
    assert_readable(page)
    stack.api("approver").answer(DAG, run_id, "approve_plan", "Reject")
    assert stack.api().wait_finished(DAG, run_id, 120) == "failed"
