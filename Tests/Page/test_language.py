"""German: the page translates the service's English texts by their codes."""

import re

from playwright.sync_api import expect


def test_a_reason_is_german_too(visit, service):
    service.tell("add", "http://127.0.0.1:9/refused.bin", "-d", "files")
    page = visit(locale="de-DE")
    row = page.locator("#list .row", has_text="refused.bin")
    expect(row).to_contain_text(re.compile("Server oder Netzwerk antworten nicht.*, neuer Versuch in "))
    expect(page.locator("html")).to_have_attribute("lang", "de")
