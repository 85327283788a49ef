// Documents: found by words or topic, shown with a bar of their topics and with marked words.

const RESULTS_SHOWN = 8;
const SNIPPET = 330; // characters
let parsed = null;
const documents = () => (parsed ??= read("report-documents")); // megabytes: read when first needed
const library = { found: [], shown: RESULTS_SHOWN, open: null, only: null };

const documentName = (one) => (one.name === String(one.number) ? `Document ${one.number}` : one.name);
const searchable = (one) => (one.lower ??= `${documentName(one)} ${one.facts.join(" ")} ${one.text}`.toLowerCase());
const shareOf = (one, k) => (one.mixture.find(([topic]) => topic === k) || [k, 0])[1];

// Colours of a document's topics: a topic has the same one everywhere, unless a larger one has it here.
function coloursOf(one) {
  const colours = new Map(), free = new Set(Array.from({ length: N_TOPIC_COLOURS }, (_, i) => i));
  const give = (topic, colour) => { free.delete(colour); colours.set(topic, colour); };
  const topics = one.mixture.slice(0, N_TOPIC_COLOURS).map(([topic]) => topic);
  for (const topic of topics) if (free.has(colourOf(topic))) give(topic, colourOf(topic));
  for (const topic of topics) if (!colours.has(topic)) give(topic, free.values().next().value);
  return colours;
}

// The text as pieces: [start, end, topic], topic null between words.
function pieces(one) {
  const found = [];
  let end = 0;
  for (let i = 0; i < one.marks.length; i += 3) {
    const start = end + one.marks[i];
    if (start > end) found.push([end, start, null]);
    end = start + one.marks[i + 1];
    found.push([start, end, one.marks[i + 2]]);
  }
  if (end < one.text.length) found.push([end, one.text.length, null]);
  return found;
}

// Terms that a topic is known by stand out among its words.
const keyTerms = new Map();
function isKey(k, text) {
  if (!keyTerms.has(k)) keyTerms.set(k, new Set(page.topics[k].terms.map((v) => page.vocabulary[v])));
  return keyTerms.get(k).has(text.toLowerCase()) || keyTerms.get(k).has(text);
}

// The stretch of a document that has most words of a topic, these words marked.
function snippet(one, k) {
  const own = pieces(one).filter((piece) => piece[2] === k);
  let first = 0, best = 0, most = 0;
  for (let last = 0; last < own.length; last++) {
    while (own[last][1] - own[first][0] > SNIPPET) first++;
    if (last - first + 1 > most) [most, best] = [last - first + 1, own[first][0]];
  }
  const start = best < 60 ? 0 : one.text.lastIndexOf(" ", best - 20) + 1;
  const space = one.text.indexOf(" ", start + SNIPPET);
  const end = space < 0 ? one.text.length : space;
  const parts = pieces(one).filter(([from, to]) => to > start && from < end).map(([from, to, topic]) => {
    const text = one.text.slice(Math.max(from, start), Math.min(to, end));
    return topic === k ? element("mark", { class: isKey(k, text) ? "own key" : "own" }, text) : text;
  });
  return [start > 0 ? "… " : "", ...parts, end < one.text.length ? " …" : ""];
}

function mixtureBar(one, colours) {
  const words = one.mixture.slice(0, 6).map(([k, share]) => `${shortTitle(k)} ${percent(share)}`).join(", ");
  const segments = one.mixture.filter(([k]) => colours.has(k)).map(([k, share]) =>
    element("i", { class: `t${colours.get(k)}`, style: `width:${(100 * share).toFixed(2)}%`, title: `${fullTitle(k)}, ${percent(share)}` }));
  return element("span", { class: "mixture", role: "img", "aria-label": words }, ...segments);
}

// ---------------------------------------------------------------- one document

function openDocument(place, scroll = false) {
  library.open = place;
  library.only = null;
  showReader();
  for (const button of byId("results").querySelectorAll("button")) {
    button.setAttribute("aria-pressed", String(Number(button.dataset.place) === place));
  }
  if (scroll) {
    byId("reader").scrollIntoView({ block: "start" });
    byId("reader").focus({ preventScroll: true });
  }
}

function isolate(k) {
  library.only = library.only === k ? null : k;
  if (library.only !== null) choose(k);
  showReader();
  byId("reader").querySelector(`[data-topic="${k}"]`).focus(); // the button was made again
}

function markedText(one, colours) {
  return pieces(one).map(([from, to, topic]) => {
    const text = one.text.slice(from, to);
    if (topic === null) return text;
    const colour = colours.has(topic) ? `t${colours.get(topic)}` : "tx";
    const key = isKey(topic, text) ? " key" : "";
    const dim = library.only !== null && library.only !== topic ? " dim" : "";
    return element("mark", { class: colour + key + dim, title: shortTitle(topic) }, text);
  });
}

// What is known of a document besides its words.
function factsOf(one) {
  const known = page.facts.map((name, i) => [name, one.facts[i]]).filter(([, value]) => value);
  if (!known.length) return [];
  return [element("dl", { class: "known" }, ...known.map(([name, value]) =>
    element("div", {}, element("dt", {}, name), element("dd", {}, value))))];
}

function showReader() {
  if (library.open === null) return;
  const one = documents()[library.open], colours = coloursOf(one);
  const keys = one.mixture.filter(([k, share]) => colours.has(k) && share >= 0.01).map(([k, share]) =>
    element("button", { type: "button", class: "chip", "data-topic": k, "aria-pressed": String(library.only === k), title: "Show only the words of this topic", onclick: () => isolate(k) },
      swatch(colours.get(k)), ` ${fullTitle(k)} `, element("b", {}, percent(share))));
  const rest = 1 - one.mixture.filter(([k]) => colours.has(k)).reduce((sum, [, share]) => sum + share, 0);
  if (rest >= 0.01) keys.push(element("span", { class: "chip plain" }, element("i", { class: "swatch rest" }), " others ", element("b", {}, percent(rest))));
  const text = one.text ? element("p", { class: "text" }, ...markedText(one, colours))
    : element("p", { class: "soft" }, "This document has no text.");
  byId("reader").replaceChildren(
    element("h3", {}, documentName(one)),
    element("p", { class: "soft tight" }, `${counted(one.words, "word")} in the vocabulary${one.words ? "" : "; its topics are what is expected of any document"}`),
    ...factsOf(one), mixtureBar(one, colours), element("div", { class: "chips" }, ...keys), text,
    one.cut ? element("p", { class: "soft" }, "The text is longer; this page holds only its beginning.") : "");
}

// ---------------------------------------------------------------- finding documents

function findDocuments() {
  const words = byId("document-search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const topic = byId("document-topic").value === "" ? null : Number(byId("document-topic").value);
  let places = [...documents().keys()];
  if (words.length) places = places.filter((i) => words.every((word) => searchable(documents()[i]).includes(word)));
  for (const [column, value] of groupsWanted()) places = places.filter((i) => documents()[i].groups[column] === value);
  if (topic !== null) {
    places = places.filter((i) => shareOf(documents()[i], topic) >= 0.05);
    places.sort((a, b) => shareOf(documents()[b], topic) - shareOf(documents()[a], topic));
  }
  library.found = places;
  library.shown = RESULTS_SHOWN;
  showResults();
}

// [column, group] of each menu that asks for one.
const groupsWanted = () => [...document.querySelectorAll(".document-group")]
  .filter((menu) => menu.value !== "").map((menu) => [Number(menu.dataset.column), Number(menu.value)]);

function fillGroupFilters() {
  for (const menu of document.querySelectorAll(".document-group")) {
    const column = Number(menu.dataset.column), { labels } = page.groups[column];
    const times = labels.map(() => 0);
    for (const one of documents()) times[one.groups[column]]++;
    const options = labels.map((label, i) => element("option", { value: i }, `${label} (${number(times[i])})`));
    menu.replaceChildren(element("option", { value: "" }, "any"), ...options.filter((_, i) => times[i]));
    menu.addEventListener("change", findDocuments);
  }
}

function result(place) {
  const one = documents()[place];
  return element("li", {},
    element("button", { type: "button", class: "result", "data-place": place, "aria-pressed": String(library.open === place), onclick: () => openDocument(place, innerWidth < 800) },
      element("b", {}, documentName(one)), mixtureBar(one, coloursOf(one)),
      element("span", { class: "soft clamp" }, one.text.slice(0, 200) || "no text")));
}

function showResults() {
  const { found, shown } = library;
  byId("results").replaceChildren(...found.slice(0, shown).map(result));
  byId("document-count").textContent = found.length ? counted(found.length, "document") : "no documents found";
  byId("results-more").hidden = found.length <= shown;
  byId("results-more").textContent = `Show ${Math.min(RESULTS_SHOWN, found.length - shown)} more`;
}

function fillTopicFilter() {
  const kept = byId("document-topic").value;
  byId("document-topic").replaceChildren(element("option", { value: "" }, "any topic"), ...topicOptions());
  byId("document-topic").value = kept;
}

function startDocuments() {
  fillTopicFilter();
  fillGroupFilters();
  byId("document-search").addEventListener("input", afterTyping(findDocuments));
  byId("document-topic").addEventListener("change", findDocuments);
  byId("results-more").addEventListener("click", () => { library.shown += RESULTS_SHOWN; showResults(); });
  renamed.push(() => { fillTopicFilter(); showReader(); showResults(); });
  library.open = documents().length ? 0 : null;
  findDocuments();
  showReader();
}
