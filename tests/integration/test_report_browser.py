"""The report in a real browser: no errors, no network, and all that can be pressed does what it says."""

import re
from pathlib import Path

import numpy as np
import pytest

from franchise.corpus import from_texts, from_tokens
from franchise.posterior.labels import given_labels
from tests.integration.browsing import Seen, rows
from tests.unit.report.made import (
    all_but_the_first,
    large_model,
    posterior_of,
    report_of,
    run_chains,
    small_texts,
)

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

EVIL = (
    "</script><script>alert(1)</script> <img src=x onerror=alert(2)> \U0001f408 cat dog cat mouse horse paw"
)

# First of all fixtures: without a browser no report is written either.
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("browser")]


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A few topics, and a text that would run if it could."""
    corpus = from_texts([EVIL, *small_texts(80)], max_df=1.0)
    return report_of(tmp_path_factory.mktemp("small") / "report.html", corpus, run_chains(corpus))


@pytest.fixture(scope="module")
def with_runs(tmp_path_factory):
    """Sixty topics of words of a usual length, with the column of short runs, some with long names."""
    path = tmp_path_factory.mktemp("runs") / "report.html"
    labels = {0: "Algebra and pure mathematics", 1: "Elementarteilchenphysik", 2: "sun"}
    return report_of(path, *large_model(60, 300), find_support=all_but_the_first, labels=labels)


@pytest.fixture(scope="module")
def many_topics(tmp_path_factory):
    return report_of(tmp_path_factory.mktemp("topics") / "report.html", *large_model(500, 700))


@pytest.fixture(scope="module")
def many_documents(tmp_path_factory):
    return report_of(tmp_path_factory.mktemp("documents") / "report.html", *large_model(12, 20_000))


@pytest.fixture(scope="module")
def opened(browser, small):
    one = Seen(browser, small)
    yield one
    one.context.close()


@pytest.fixture
def one(opened):
    """The small report, open; one window for all tests that need no other."""
    opened.reset()
    yield opened
    opened.check()


def test_opens_with_all_charts_and_runs_no_text(one):
    assert one.page.locator(".chart").count() == one.page.locator(".chart svg.marks").count() > 10
    labels = one.page.locator(".chart").evaluate_all("all => all.map(x => [x.role, x.ariaLabel])")
    assert {role for role, _ in labels} == {"img", "application"}
    assert not [label for _, label in labels if not label or "Vega" in label]
    assert one.page.locator("script").count() == 5
    assert one.page.locator("img").count() == 0
    one.page.fill("#document-search", "onerror")
    playwright.expect(one.page.locator("#results li")).to_have_count(1)
    one.page.click("#results button")
    assert EVIL in one.page.locator("#reader .text").text_content()


def test_table_sorts_by_mouse_and_keyboard(one):
    weights = [topic["weight"] for topic in one.data()["topics"]]
    by_weight = sorted(range(len(weights)), key=lambda k: -weights[k])
    one.page.click("[data-sort=weight]")
    assert rows(one) == by_weight
    assert one.page.locator("th[aria-sort=descending] [data-sort=weight]").count() == 1
    one.page.focus("[data-sort=weight]")
    one.page.keyboard.press("Enter")
    assert [weights[k] for k in rows(one)] == sorted(weights)
    assert one.page.locator("th[aria-sort=ascending] [data-sort=weight]").count() == 1


def test_table_searches_terms(one):
    one.page.fill("#topic-search", "no such term")
    playwright.expect(one.page.locator("#topic-table tbody tr")).to_have_count(0)
    one.page.fill("#topic-search", "0")
    playwright.expect(one.page.locator("#topic-table tbody tr")).to_have_count(1)
    assert rows(one) == [0]


def terms_drawn(one: Seen, chart: str) -> list[str]:
    """The terms beside a chart, from top to bottom."""
    places = "all => all.map(text => [text.getBoundingClientRect().top, text.textContent])"
    labels = one.page.locator(f"{chart} svg .role-axis-label text").evaluate_all(places)
    return [text for _, text in sorted(labels) if text.isalpha()]


def click_on_map(one: Seen, topic: int) -> None:
    """Click where the circle of a topic is: circles are drawn in the order of topics."""
    circles = one.page.locator("#chart-map .role-mark.layer_0_marks path")
    box = circles.nth(topic).bounding_box()
    one.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def test_choosing_on_the_map_changes_terms_and_documents(one):
    one.page.locator("#chart-map").scroll_into_view_if_needed()
    title, shown = one.texts("#topic-title"), one.texts("#representatives li")
    bars, terms = terms_drawn(one, "#chart-bars"), terms_drawn(one, "#chart-terms")
    click_on_map(one, 1)
    playwright.expect(one.page.locator("#topic-title")).to_have_text(" Topic 1")
    assert title == ["Topic 0"]
    playwright.expect(one.page.locator("#bars-title")).to_have_text("Terms of topic 1")
    playwright.expect(one.page.locator("#topic-table tr.is-chosen")).to_have_attribute("data-topic", "1")
    best = one.data()["vocabulary"][one.data()["topics"][1]["intervals"][0][0]]
    one.page.wait_for_timeout(150)
    assert terms_drawn(one, "#chart-terms")[0] == best
    assert terms_drawn(one, "#chart-terms") != terms
    assert terms_drawn(one, "#chart-bars") != bars
    assert one.texts("#representatives li") != shown


def test_map_and_panel_by_keyboard(one):
    one.page.focus("#chart-map")
    one.page.keyboard.press("ArrowRight")
    playwright.expect(one.page.locator("#topic-title")).to_have_text(" Topic 1")
    one.page.focus("#previous")
    one.page.keyboard.press("Enter")
    playwright.expect(one.page.locator("#topic-title")).to_have_text(" Topic 0")
    one.page.focus("#topic-table tr[data-topic='1'] button")
    one.page.keyboard.press("Space")
    playwright.expect(one.page.locator("#topic-title")).to_have_text(" Topic 1")


def relevance(data: dict, k: int, weight: float) -> list[str]:
    topic = data["topics"][k]
    phi = np.array(topic["phi"])
    share = np.array([data["counts"][v] for v in topic["terms"]]) / data["n_words"]
    score = weight * np.log(phi) + (1 - weight) * np.log(phi / share)
    return [data["vocabulary"][topic["terms"][i]] for i in np.argsort(-score, kind="stable")[:5]]


def test_relevance_slider_ranks_terms(one):
    for value in ("0", "0.5", "1"):
        one.page.locator("#relevance").fill(value)
        one.page.wait_for_timeout(150)
        assert terms_drawn(one, "#chart-bars")[:5] == relevance(one.data(), 0, float(value))
        assert one.texts("#relevance-value") == [f"λ = {float(value):.2f}"]


def test_theme_follows_the_system_and_the_switch(seen, small):
    page = seen(small, color_scheme="dark").page
    paper = "() => getComputedStyle(document.body).backgroundColor"
    ink = "() => getComputedStyle(document.querySelector('#chart-map text')).fill"
    dark = page.evaluate(paper), page.evaluate(ink)
    page.emulate_media(color_scheme="light")
    light = page.evaluate(paper), page.evaluate(ink)
    assert light[0] != dark[0]
    assert light[1] != dark[1]
    page.click("#theme")
    assert (page.evaluate(paper), page.evaluate(ink)) == dark
    page.reload()
    page.wait_for_selector("html[data-drawn]")
    assert (page.evaluate(paper), page.evaluate(ink)) == dark
    page.emulate_media(media="print")
    assert page.evaluate(ink) == light[1]


def test_following_a_document_from_a_topic(one):
    card = one.page.locator("#representatives li").first
    name = card.locator("b").inner_text()
    assert card.locator("mark.own").count() > 0
    card.locator("button").click()
    playwright.expect(one.page.locator("#reader h3")).to_have_text(name)
    playwright.expect(one.page.locator("#reader")).to_be_focused()
    playwright.expect(one.page.locator("#reader")).to_be_in_viewport()
    marks, dim = one.page.locator("#reader mark"), one.page.locator("#reader mark.dim")
    assert marks.count() > 5
    one.page.locator("#reader .chip").first.click()
    assert dim.count() < marks.count()
    playwright.expect(one.page.locator("#reader .chip").first).to_be_focused()


def test_going_to_a_similar_topic(one):
    neighbour = one.data()["topics"][0]["neighbours"][0][0]
    one.page.locator("#neighbours button").first.press("Enter")
    playwright.expect(one.page.locator("#topic-title")).to_have_text(f" Topic {neighbour}")
    playwright.expect(one.page.locator("#topic-title")).to_be_focused()


def test_terms_that_look_like_markup_stay_text(seen, tmp_path):
    term = "<img src=x onerror=alert(3)>"
    corpus = from_tokens([[term, "cat", term], ["cat", "dog"], [term, "dog", "dog"]] * 5)
    one = seen(report_of(tmp_path / "report.html", corpus, run_chains(corpus, sweeps=20)))
    assert term in one.texts("#topic-table .cell-terms")[0]
    for chart in ("#chart-map", "#chart-bars", "#chart-terms"):
        one.page.locator(f"{chart} svg .role-mark path").last.hover(force=True)
        playwright.expect(one.page.locator("#vg-tooltip-element")).to_be_visible()
    assert one.page.locator("img").count() == 0


def test_documents_by_topic_come_with_the_largest_share_first(one):
    one.page.select_option("#document-topic", "1")
    labels = one.page.locator("#results .mixture").evaluate_all("all => all.map(x => x.ariaLabel)")
    shares = [float(re.search(r"Topic 1 ([\d.]+)%", label)[1]) for label in labels]
    assert shares == sorted(shares, reverse=True)
    assert len(shares) == 8
    one.page.click("#results-more")
    assert one.page.locator("#results li").count() == 16


def test_names_appear_everywhere_and_are_remembered(seen, small):
    one = seen(small)
    one.page.fill("#topic-name", "<b>Animals</b>")
    one.page.press("#topic-name", "Enter")
    playwright.expect(one.page.locator("#topic-title")).to_have_text(" 0 <b>Animals</b>")
    assert one.texts("#topic-table tr.is-chosen .name") == ["0 <b>Animals</b>"]
    with one.page.expect_download() as download:
        one.page.click("#download-names")
    written = Path(download.value.path()).read_text(encoding="utf-8").splitlines()
    assert written[0] == "topic,name,terms"
    assert written[1].startswith('0,"<b>Animals</b>",')
    one.page.reload()
    one.page.wait_for_selector("html[data-drawn]")
    assert one.texts("#topic-table tr.is-chosen .name") == ["0 <b>Animals</b>"]
    one.requests[:] = [address for address in one.requests if not address.startswith("blob:")]


def test_names_of_the_model_are_shown_until_the_reader_gives_others(seen, tmp_path):
    corpus = from_texts(small_texts(80), max_df=1.0)
    chains = run_chains(corpus)
    one = seen(report_of(tmp_path / "report.html", corpus, chains, labels={0: "zoo", 1: "shop"}))
    playwright.expect(one.page.locator("#topic-title")).to_have_text(" 0 zoo")
    assert one.page.input_value("#topic-name") == "zoo"
    one.page.fill("#topic-name", "")
    one.page.press("#topic-name", "Enter")
    one.page.reload()
    one.page.wait_for_selector("html[data-drawn]")
    assert one.texts("#topic-table .name")[:2] == ["0", "1 shop"]
    with one.page.expect_download() as download:
        one.page.click("#download-names")
    phi = posterior_of(corpus, chains).phi
    assert given_labels(download.value.path(), phi, corpus.vocabulary) == {1: "shop"}
    one.requests[:] = [address for address in one.requests if not address.startswith("blob:")]


def test_family_tree_of_another_chain(one):
    note = one.texts("#family-note")
    one.page.click("#family-chains button:nth-child(2)")
    one.page.wait_for_timeout(300)
    assert one.page.locator("#chart-family svg").count() == 1
    tree = one.data()["chains"][1]["family"]
    told = one.texts("#family-note")[0]
    assert f"{tree['all']} topic" in told
    assert note != [told] or one.data()["chains"][0]["family"]["all"] == tree["all"]


@pytest.mark.parametrize("width", [1400, 1300, 1100, 1081, 1000, 900, 830, 390])
def test_the_table_is_not_cut_off(seen, with_runs, width):
    """With all its columns it has room next to the chosen topic, and on a phone each row has lines."""
    one = seen(with_runs, viewport={"width": width, "height": 900})
    box = one.page.locator("#topics .scroll")
    assert one.page.locator("#topic-table [data-sort=runs]").count() == 1
    assert box.evaluate("box => box.scrollWidth - box.clientWidth") <= 0
    last = one.page.locator("#topic-table tbody tr").first.locator("td").last.bounding_box()
    assert last["x"] + last["width"] <= width


def test_the_only_chain_is_compared_with_short_runs(seen, tmp_path):
    corpus = from_texts(small_texts(80), max_df=1.0)
    path = tmp_path / "report.html"
    one = seen(report_of(path, corpus, run_chains(corpus, 1), find_support=all_but_the_first))
    assert "0% of the short runs found this topic too" in one.page.locator("#peek .trust").text_content()
    one.page.select_option("#topic-choice", "1")
    assert "100% of the short runs found this topic too" in one.page.locator("#peek .trust").text_content()


def test_nothing_is_wider_than_a_phone(seen, small):
    phone = seen(small, viewport={"width": 390, "height": 800})
    assert phone.page.evaluate("() => document.documentElement.scrollWidth") <= 390
    phone.page.set_viewport_size({"width": 800, "height": 800})
    assert phone.page.evaluate("() => document.documentElement.scrollWidth") <= 800


def test_a_phone_shows_that_the_bar_has_more_parts(seen, small):
    phone = seen(small, viewport={"width": 390, "height": 800}).page
    more, last = phone.locator("#parts-more"), phone.locator(".bar nav a").last
    playwright.expect(last).not_to_be_in_viewport()
    for _ in range(6):
        if more.is_visible():
            more.click()
            phone.wait_for_timeout(600)  # it scrolls smoothly
    playwright.expect(last).to_be_in_viewport(ratio=1)
    playwright.expect(more).to_be_hidden()
    phone.set_viewport_size({"width": 1400, "height": 800})
    phone.wait_for_timeout(300)
    playwright.expect(more).to_be_hidden()


def test_the_bar_follows_the_reader_on_a_phone(seen, small):
    phone = seen(small, viewport={"width": 390, "height": 800}).page
    phone.evaluate("() => document.getElementById('settings').scrollIntoView({ behavior: 'instant' })")
    playwright.expect(phone.locator(".bar nav a[href='#settings']")).to_have_attribute("aria-current", "")
    playwright.expect(phone.locator(".bar nav a[href='#settings']")).to_be_in_viewport(ratio=1)


def test_the_arrows_of_a_topic_stay_in_one_line(seen, small):
    phone = seen(small, viewport={"width": 390, "height": 800}).page
    places = [phone.locator(f"#{one}").bounding_box() for one in ("previous", "topic-choice", "next")]
    assert max(box["y"] for box in places) - min(box["y"] for box in places) < 12
    assert places[2]["x"] + places[2]["width"] <= 390


def test_no_chart_is_alone_in_its_row(seen, tmp_path):
    corpus = from_texts(small_texts(80), max_df=1.0)
    one = seen(report_of(tmp_path / "report.html", corpus, run_chains(corpus, 4)))
    lefts = "all => all.map(figure => figure.getBoundingClientRect().left)"
    for grid, columns in {"traces": 2, "masses": 4, "posteriors": 4, "ranks": 2}.items():
        found = one.page.locator(f"#{grid} > figure").evaluate_all(lefts)
        assert (len(found), len(set(found))) == (4, columns)


def test_rank_plots_have_a_lane_for_every_chain(one):
    ranks = one.data()["ranks"]
    assert len(ranks) == 4
    for i, drawn in enumerate(ranks):
        bars = one.page.locator(f"#chart-ranks-{i} .mark-rect.role-mark path")
        assert bars.count() == sum(map(len, drawn["ranks"])) == 20


def test_five_hundred_topics_fit_in_a_page(many_topics):
    assert many_topics.stat().st_size < 8e6


def test_five_hundred_topics(seen, many_topics):
    one = seen(many_topics)
    data = one.data()
    assert len(data["topics"]) == 500
    assert all(topic["documents"] for topic in data["topics"])
    assert len(rows(one)) == 12
    one.page.click("#topic-more")
    assert len(rows(one)) == 500
    one.page.fill("#topic-search", "499")
    playwright.expect(one.page.locator("#topic-table tr[data-topic='499']")).to_be_visible()
    one.page.click("#topic-table tr[data-topic='499'] button")
    playwright.expect(one.page.locator("#topic-title")).to_have_text(" Topic 499")
    assert one.page.locator("#chart-map .role-mark.layer_0_marks path").count() == 500


def test_twenty_thousand_documents(seen, many_documents):
    one = seen(many_documents)
    assert "2,000 of 20,000 documents" in one.texts("#documents .lead")[0]
    assert one.texts("#document-count") == ["2,000 documents"]
    assert many_documents.stat().st_size < 6e6
    shown = one.data()["topics"][3]["documents"]
    assert len(shown) == 5
    one.page.select_option("#topic-choice", "3")
    assert one.page.locator("#representatives li").count() == 3
    one.page.click("#representatives-more")
    assert one.page.locator("#representatives li").count() == 5


def test_opens_quickly_with_two_thousand_documents(seen, many_documents):
    one = seen(many_documents)
    timing = "() => performance.getEntriesByType('navigation')[0].loadEventEnd"
    times = [one.page.evaluate(timing)]
    for _ in range(2):  # the best of three: other programs may be running
        one.page.reload()
        one.page.wait_for_selector("html[data-drawn]")
        times.append(one.page.evaluate(timing))
    assert 0 < min(times) < 2_000
