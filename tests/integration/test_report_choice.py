"""Choosing a topic in the report, and looking at topics and documents by what is known of the documents."""

from pathlib import Path

import numpy as np
import pytest

from franchise.corpus import from_texts
from franchise.posterior.labels import given_labels
from tests.integration.browsing import Seen
from tests.unit.report.made import large_model, posterior_of, report_of, run_chains, small_texts

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

# First of all fixtures: without a browser no report is written either.
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("browser")]

PHONE = {"width": 390, "height": 800}
N_TOPICS, N_DOCUMENTS = 40, 400


@pytest.fixture(scope="module")
def model():
    """Forty topics; those of small number are in the first years, and section b is almost all of topic 0."""
    corpus, chains = large_model(N_TOPICS, N_DOCUMENTS)
    topic = np.asarray(posterior_of(corpus, chains).document_topics[:, :-1].argmax(axis=1))
    metadata = {
        "year": [None if j % 50 == 7 else 2000 + int(k) // 10 for j, k in enumerate(topic)],
        "section": ["b" if k == 0 else "a <i>" for k in topic],
        "month": [f"2021-{1 + int(k) // 4:02}" for k in topic],
        "title": [f"chapter{j}x" for j in range(N_DOCUMENTS)],
    }
    return corpus.with_metadata(metadata), chains, metadata


@pytest.fixture(scope="module")
def path(tmp_path_factory, model):
    corpus, chains, _ = model
    return report_of(tmp_path_factory.mktemp("choice") / "report.html", corpus, chains)


def pick(one: Seen, topic: int) -> None:
    if not one.page.locator(f"#topic-table tr[data-topic='{topic}']").count():
        one.page.click("#topic-more")
    one.page.click(f"#topic-table tr[data-topic='{topic}'] button")
    playwright.expect(one.page.locator("#peek-title")).to_have_text(f" Topic {topic}")


def top_of(one: Seen, selector: str) -> float:
    return one.page.locator(selector).bounding_box()["y"]


# ---------------------------------------------------------------- the chosen topic, where the eye is


def test_a_topic_chosen_in_the_table_is_shown_beside_it(seen, path):
    one = seen(path)
    row = one.page.locator("#topic-table tr[data-topic='20']")
    one.page.click("#topic-more")
    row.scroll_into_view_if_needed()
    before = row.bounding_box()["y"]
    pick(one, 20)
    assert row.bounding_box()["y"] == pytest.approx(before, abs=3)
    for shown in ("#peek-title", "#peek-trust", "#bars-title", "#peek-all"):
        playwright.expect(one.page.locator(shown)).to_be_in_viewport()
    assert one.texts("#bars-title") == ["Terms of topic 20"]
    assert one.page.locator("#peek-document mark.own").count() > 0
    assert one.texts("#said")[0].startswith("20: ")
    one.page.click("#peek-all")
    playwright.expect(one.page.locator("#topic-title")).to_be_in_viewport()
    assert one.texts("#topic-title") == ["Topic 20"]


def test_on_a_phone_the_topic_comes_as_a_sheet_that_covers_nothing_pressed(seen, path):
    one = seen(path, viewport=PHONE)
    sheet = one.page.locator("#peek")
    playwright.expect(sheet).to_be_hidden()
    pick(one, 10)
    playwright.expect(sheet).to_be_visible()
    one.page.wait_for_timeout(700)  # it slides, and the page scrolls
    row = one.page.locator("#topic-table tr[data-topic='10']").bounding_box()
    assert row["y"] + row["height"] <= sheet.bounding_box()["y"] + 1
    assert one.page.locator("#chart-bars svg").bounding_box()["width"] > 250
    assert one.page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]
    one.page.focus("#peek-next")
    one.page.keyboard.press("Enter")
    playwright.expect(one.page.locator("#peek-title")).to_have_text(" Topic 11")
    one.page.keyboard.press("Escape")
    playwright.expect(sheet).to_be_hidden()
    playwright.expect(one.page.locator("#topic-table tr[data-topic='11'] button")).to_be_focused()


# ---------------------------------------------------------------- in the address


def test_the_address_names_the_topic_and_back_goes_back(seen, path):
    one = seen(path)
    pick(one, 3)
    pick(one, 5)
    assert one.page.url.endswith("#topic-5")
    for go, topic in ((one.page.go_back, 3), (one.page.go_back, 0), (one.page.go_forward, 3)):
        go()
        playwright.expect(one.page.locator("#peek-title")).to_have_text(f" Topic {topic}")
        playwright.expect(one.page.locator("#topic-title")).to_have_text(f" Topic {topic}")
    one.page.click("nav a[href='#run']")
    playwright.expect(one.page.locator("#peek-title")).to_have_text(" Topic 3")


def test_going_through_topics_leaves_no_trail(seen, path):
    one = seen(path)
    pick(one, 8)
    length = one.page.evaluate("() => history.length")
    for _ in range(3):
        one.page.click("#peek-next")
    assert one.page.url.endswith("#topic-11")
    assert one.page.evaluate("() => history.length") == length


@pytest.mark.parametrize(("asked", "topic"), [("#topic-7", 7), ("#topic-999", N_TOPICS - 1), ("#topic-x", 0)])
def test_an_address_that_was_sent_opens_its_topic(seen, path, asked, topic):
    one = seen(path)
    one.page.goto(one.address + asked)
    one.page.reload()
    one.page.wait_for_selector("html[data-drawn]")
    assert one.texts("#topic-title") == [f"Topic {topic}"]
    shown = playwright.expect(one.page.locator("#topic-title"))
    shown.to_be_in_viewport() if topic else shown.not_to_be_in_viewport()


# ---------------------------------------------------------------- the map, the colours, the tree


LABELS = """() => {
    const at = (mark) => mark.getBoundingClientRect();
    const middle = (mark) => [at(mark).x + at(mark).width / 2, at(mark).y + at(mark).height / 2];
    const box = (mark) => [at(mark).left, at(mark).top, at(mark).right, at(mark).bottom];
    const all = (layer, kind) => [...document.querySelectorAll(`#chart-map .layer_${layer}_marks ${kind}`)];
    const titles = all(3, "text"), terms = all(4, "text");
    return {
        circles: all(0, "path").map(middle),
        labels: titles.flatMap((title, i) => [title, terms[i]].filter((text) => text.textContent.trim())
            .map((text) => [parseInt(title.textContent), box(text)])),
    };
}"""


@pytest.mark.parametrize("size", [{"width": 1280, "height": 900}, PHONE])
def test_labels_on_the_map_give_way(seen, path, size):
    one = seen(path, viewport=size)
    for topic in (0, 17, 39):
        one.page.select_option("#topic-choice", str(topic))
        one.page.wait_for_timeout(200)
        found = one.page.evaluate(LABELS)
        assert len(found["circles"]) == N_TOPICS
        assert len({k for k, _ in found["labels"]}) >= 8
        for k, (left, top, right, bottom) in found["labels"]:
            covered = [
                other
                for other, (x, y) in enumerate(found["circles"])
                if other != k and left < x < right and top < y < bottom
            ]
            assert covered == []
            for other, (left_2, top_2, right_2, bottom_2) in found["labels"]:
                apart = left >= right_2 or left_2 >= right or top >= bottom_2 or top_2 >= bottom
                assert other == k or apart


def test_neighbours_in_the_table_have_different_colours(seen, path):
    one = seen(path)
    one.page.click("#topic-more")
    swatches = one.page.locator("#topic-table .swatch").evaluate_all(
        "all => all.map((one) => getComputedStyle(one).color)"
    )
    assert len(swatches) == N_TOPICS
    assert all(a != b and a != c for a, b, c in zip(swatches, swatches[1:], swatches[2:]))


def test_the_family_tree_names_topics_as_the_table_does(seen, path):
    one = seen(path)
    assert one.texts("#family-chosen")[0].startswith("Chosen:  0: ")
    labels = [label for label in one.texts("#chart-family svg text") if ":" in label]
    assert labels
    assert not [label for label in one.texts("#chart-family svg text") if "#" in label]
    own = one.data()["own"]
    for label in labels:
        number, _, terms = label.partition(": ")
        assert terms == ", ".join(own[int(number)][:3])
    lives = one.data()["chains"][0]["family"]["lives"]
    lane = next(life for life in lives if life["topic"] > 0)
    line = one.page.locator("#chart-family .layer_1_marks line").nth(lane["lane"])
    line.scroll_into_view_if_needed()
    line.click(force=True)
    playwright.expect(one.page.locator("#family-chosen")).to_contain_text(f" {lane['topic']}: ")
    assert one.page.url.endswith(f"#topic-{lane['topic']}")


def test_a_link_to_a_topic_leads_to_its_part(seen, path):
    for width in (1280, 390):
        one = seen(path, viewport={"width": width, "height": 800})
        page = one.context.new_page()  # as from a message: no place on the page is remembered
        page.goto(one.address + "#topic-5")
        page.wait_for_selector("html[data-drawn]")
        assert 0 <= page.locator("#topic").bounding_box()["y"] < 120


# ---------------------------------------------------------------- by group


def bars_of(one: Seen) -> int:
    return one.page.locator("#chart-groups .mark-rect path").count()


def test_topics_over_years_and_categories(seen, path, model):
    one = seen(path)
    assert [name.strip() for name in one.texts("#group-column option")] == ["year", "section", "month"]
    said = one.page.get_attribute("#chart-groups", "aria-label")
    by = one.data()["groups"][0]
    assert by["labels"] == ["2000", "2001", "2002", "2003", "(missing)"]
    assert f"2000 {100 * by['share'][0][0]:.1f}%" in said
    assert "missing" not in said
    assert "the year is not known" in one.texts("#group-note")[0]
    assert one.page.locator("#chart-groups .mark-area path").count() == 1
    one.page.select_option("#group-other", "15")
    playwright.expect(one.page.locator("#chart-groups .mark-area path")).to_have_count(2)
    assert len(one.texts("#group-keys span")) == 2
    one.page.select_option("#group-column", "1")
    playwright.expect(one.page.locator("#chart-groups .mark-rect path")).to_have_count(4)
    one.page.select_option("#group-other", "")
    playwright.expect(one.page.locator("#chart-groups .mark-rect path")).to_have_count(2)
    assert "a <i>" in one.texts("#chart-groups svg text")
    one.page.select_option("#group-column", "2")
    playwright.expect(one.page.locator("#chart-groups .mark-area path")).to_have_count(1)
    assert "title" in one.texts("#groups > p.soft")[0]


def test_how_topics_differ_is_read_in_full_on_a_phone(seen, path):
    one = seen(path, viewport={"width": 320, "height": 700})
    one.page.select_option("#group-column", "1")
    said = one.page.locator("#group-extremes button .soft").first
    assert said.evaluate("(line) => line.scrollWidth <= line.clientWidth")
    # All of its button is for the words: no room is kept for a bar that it does not have.
    assert said.evaluate("(line) => line.clientWidth / line.closest('button').clientWidth") > 0.8


def test_topics_that_differ_most_can_be_chosen(seen, path):
    one = seen(path)
    one.page.select_option("#group-column", "1")
    first = one.page.locator("#group-extremes button").first
    text = first.inner_text()
    assert text.startswith("0: ")
    assert "in b" in text
    one.page.select_option("#group-column", "0")
    first = one.page.locator("#group-extremes button").first
    topic = int(first.inner_text().partition(":")[0])
    first.click()
    playwright.expect(one.page.locator("#peek-title")).to_have_text(f" Topic {topic}")
    playwright.expect(one.page.locator("#chart-groups")).to_be_in_viewport()
    assert f"{topic}: " in one.page.get_attribute("#chart-groups", "aria-label")


def test_documents_by_what_is_known_of_them(seen, path, model):
    _, _, metadata = model
    one = seen(path)
    years, sections = metadata["year"], metadata["section"]
    in_2001 = [j for j in range(N_DOCUMENTS) if years[j] == 2001]
    menu = one.page.locator(".document-group[data-column='0']")
    assert f"2001 ({len(in_2001)})" in one.texts(".document-group[data-column='0'] option")
    menu.select_option(label=f"2001 ({len(in_2001)})")
    assert one.texts("#document-count") == [f"{len(in_2001)} documents"]
    one.page.locator("#results button").first.click()
    assert one.texts("#reader h3") == [f"Document {in_2001[0]}"]
    known = one.texts("#reader .known div")
    assert "year2001" in known
    assert "sectiona <i>" in known
    assert f"month{metadata['month'][in_2001[0]]}" in known
    one.page.locator(".document-group[data-column='1']").select_option("0")
    both = sum(years[j] == 2001 and sections[j] == "a <i>" for j in range(N_DOCUMENTS))
    assert one.texts("#document-count") == [f"{both} documents"]
    missing = one.texts(".document-group[data-column='0'] option")[-1]
    assert missing == f"(missing) ({years.count(None)})"
    menu.select_option("")
    one.page.locator(".document-group[data-column='1']").select_option("")
    assert one.texts("#document-count") == [f"{N_DOCUMENTS} documents"]
    one.page.fill("#document-search", "Chapter399x")
    playwright.expect(one.page.locator("#results li")).to_have_count(1)


def test_the_panel_fits_on_a_phone(seen, path):
    one = seen(path, viewport=PHONE)
    one.page.select_option("#group-column", "1")
    assert one.page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]
    assert one.page.locator("#chart-groups svg").bounding_box()["width"] <= PHONE["width"]


# ---------------------------------------------------------------- names


def test_names_of_the_model_are_shown_and_saved_names_can_be_read_again(seen, tmp_path):
    corpus = from_texts(small_texts(60), max_df=1.0)
    chains = run_chains(corpus)
    path = report_of(tmp_path / "report.html", corpus, chains, labels={0: "Beasts & <b>birds</b>"})
    one = seen(path)
    assert one.texts("#topic-title") == one.texts("#peek-title") == ["0 Beasts & <b>birds</b>"]
    assert "0 Beasts & <b>birds</b>" in one.texts("#chart-family svg text")
    assert not one.page.locator("#groups, nav a[href='#groups'], .document-group").count()
    one.page.select_option("#topic-choice", "1")
    one.page.fill("#topic-name", 'Money, "real" money')
    one.page.press("#topic-name", "Enter")
    assert '1 Money, "real" money' in one.texts("#chart-family svg text")
    with one.page.expect_download() as download:
        one.page.click("#download-names")
    posterior = posterior_of(corpus, chains)
    saved = tmp_path / "topic-names.csv"
    saved.write_bytes(Path(download.value.path()).read_bytes())
    assert given_labels(saved, posterior.phi, corpus.vocabulary) == {
        0: "Beasts & <b>birds</b>",
        1: 'Money, "real" money',
    }
    one.requests[:] = [address for address in one.requests if not address.startswith("blob:")]
