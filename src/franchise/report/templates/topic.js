// The chosen topic: all that is known about it, in a part of the page of its own.

const INTERVAL_ROW = 26; // pixels
const DOCUMENTS_FIRST = 3;
const panel = { all: false }; // documents of a topic

// Sievert & Shirley (2014): lambda log phi + (1 - lambda) log (phi / share of the term in all words).
function relevant(k, weight) {
  const topic = page.topics[k];
  const score = (i) =>
    Math.log(topic.phi[i]) - (1 - weight) * Math.log(page.counts[topic.terms[i]] / page.n_words);
  return topic.terms
    .map((_, i) => ({ i, score: score(i) }))
    .sort((a, b) => b.score - a.score || a.i - b.i)
    .slice(0, page.terms_shown)
    .map(({ i }) => i);
}

const chainsWith = (topic) => topic.by_chain.filter((share) => share >= 0.1).length;

function trustInWords(topic) {
  const n = topic.by_chain.length, have = chainsWith(topic);
  if (n === 1 && topic.runs !== null) {
    return ["open", `There is only one chain; ${Math.round(100 * topic.runs)}% of the short runs found this topic too.`];
  }
  if (n === 1) return ["open", "There is only one chain: it is not known whether another would find this topic."];
  if (have <= 1) return ["bad", "Found by one chain only: do not rely on it."];
  if (2 * have <= n) return ["bad", `Found by ${have} of ${n} chains: do not rely on it.`];
  if (have < n) return ["rough", `Found by ${have} of ${n} chains: likely, but not certain.`];
  if (topic.runs !== null && topic.runs < page.firm_runs) {
    return ["rough", `All chains have it, but only ${Math.round(100 * topic.runs)}% of the short runs found it.`];
  }
  if (topic.support < 0.9) return ["rough", "All chains have it, but not all the time."];
  if (topic.stability < 0.9) return ["rough", "All chains have it, but not with quite the same terms."];
  const start = page.same_start && topic.runs === null ? "; they all started from the same topics" : "";
  return ["good", `All chains have it, and it looks the same in all of them${start}.`];
}

function showTrust(box, topic) {
  const [level, words] = trustInWords(topic);
  const sign = { good: "✓", rough: "≈", bad: "✗", open: "?" }[level];
  box.className = `trust verdict ${level}`;
  box.replaceChildren(element("span", { class: "sign", "aria-hidden": "true" }, sign), ` ${words}`);
}

function showFacts(topic) {
  const fact = (name, value, note) =>
    element("div", {}, element("dt", {}, name), element("dd", {}, value, element("small", {}, note)));
  const n = topic.by_chain.length;
  byId("facts").replaceChildren(
    fact("Share of words", percent(topic.weight), `95% from ${percent(topic.low)} to ${percent(topic.high)}`),
    fact("Support", `${Math.round(100 * topic.support)}%`, `of the draws, ${chainsWith(topic)} of ${counted(n, "chain")}`),
    ...(topic.runs === null ? [] : [fact("Runs", `${Math.round(100 * topic.runs)}%`, "of the short runs before the fit found it")]),
    fact("Stability", topic.stability.toFixed(2), "1 is identical in all draws"),
    fact("Coherence", topic.coherence === null ? "-" : topic.coherence.toFixed(2), "0 is chance, 1 always together"),
  );
}

function showTermIntervals(topic) {
  const terms = topic.intervals.map(([v, phi, low, high], rank) => ({ rank, term: page.vocabulary[v], phi, low, high }));
  draw("chart-terms", "terms", { terms }, {}, INTERVAL_ROW * terms.length);
}

function showPrevalence(topic) {
  const n = topic.prevalence.length;
  const bins = topic.prevalence.map((documents, i) => ({ from: i / n, to: (i + 1) / n, documents })).slice(1);
  byId("prevalence-note").textContent =
    `; not shown: ${number(topic.prevalence[0])} of ${number(page.n_documents)} with less than ${100 / n}%`;
  draw("chart-prevalence", "prevalence", { bins });
}

function showDraws(topic) {
  const drawn = page.chains.filter((chain) => chain.draws.length);
  const draws = drawn.flatMap((chain, c) =>
    chain.draws.map((sweep, i) => ({ chain: `chain ${chain.number}`, sweep, share: topic.by_draw[c][i] })));
  const without = drawn.filter((_, c) => topic.by_chain[c] === 0).map((chain) => String(chain.number));
  byId("draws-note").textContent = without.length
    ? `; not in chain${without.length > 1 ? "s" : ""} ${inWords(without)}` : ", its share of words";
  draw("chart-by-draw", "by_draw", { draws });
}

// The button that was pressed disappears with the old topic.
function goTo(k) {
  choose(k);
  byId("topic-title").focus();
}

function showNeighbours(topic) {
  const items = topic.neighbours.map(([k, similarity]) => element("li", {},
    element("button", { type: "button", class: "neighbour", onclick: () => goTo(k) },
      swatch(colourOf(k)), element("span", {}, element("b", {}, shortTitle(k)), element("span", { class: "soft" }, firstTerms(k, 4))),
      element("span", { class: "meter", role: "img", "aria-label": `similarity ${similarity.toFixed(2)}` },
        element("i", { style: `width:${(100 * similarity).toFixed(1)}%` })),
      element("span", { class: "figure" }, similarity.toFixed(2)))));
  if (!items.length) items.push(element("li", { class: "soft" }, "There is no other topic."));
  byId("neighbours").replaceChildren(...items);
}

const NO_DOCUMENT = "This page holds no document about this topic.";

function documentCard(place, share, k) {
  const one = documents()[place];
  return [
    element("div", { class: "card-head" },
      element("b", {}, documentName(one)), element("span", { class: "figure" }, `${percent(share)} of its words`)),
    element("p", {}, ...snippet(one, k)),
    element("button", { type: "button", class: "link", onclick: () => openDocument(place, true) }, "Read the document"),
  ];
}

function showRepresentatives(topic, k) {
  const more = byId("representatives-more");
  more.hidden = panel.all || topic.documents.length <= DOCUMENTS_FIRST;
  more.textContent = `Show ${topic.documents.length - DOCUMENTS_FIRST} more`;
  const shown = panel.all ? topic.documents : topic.documents.slice(0, DOCUMENTS_FIRST);
  const items = shown.map(([place, share]) => element("li", { class: "card" }, ...documentCard(place, share, k)));
  if (!items.length) items.push(element("li", { class: "soft" }, NO_DOCUMENT));
  byId("representatives").replaceChildren(...items);
}

function showName(k) {
  byId("topic-title").replaceChildren(swatch(colourOf(k)), ` ${shortTitle(k)}`);
  byId("naming-help").textContent = `Frequent: ${firstTerms(k, 6)}. Its own: ${ownTerms(k, 6)}.`;
}

function showTopic(k) {
  const topic = page.topics[k];
  document.documentElement.style.setProperty("--topic", `var(--t${colourOf(k)})`);
  showName(k);
  byId("topic-name").value = names[k] || "";
  byId("topic-choice").value = String(k);
  showTrust(byId("trust"), topic);
  showFacts(topic);
  showTermIntervals(topic);
  showPrevalence(topic);
  showDraws(topic);
  showNeighbours(topic);
  showRepresentatives(topic, k);
}

const topicOptions = () => page.topics.map((_, k) => element("option", { value: k }, fullTitle(k)));

function startTopic() {
  byId("topic-choice").replaceChildren(...topicOptions());
  byId("topic-choice").addEventListener("change", (event) => choose(Number(event.target.value)));
  byId("previous").addEventListener("click", () => step(-1));
  byId("next").addEventListener("click", () => step(1));
  byId("representatives-more").addEventListener("click", () => {
    panel.all = true;
    showRepresentatives(page.topics[chosen.topic], chosen.topic);
    byId("representatives").querySelectorAll("button")[DOCUMENTS_FIRST].focus();
  });
  byId("draw-keys").replaceChildren(...chainKeys(false));
  byId("topic-name").addEventListener("change", (event) => rename(chosen.topic, event.target.value));
  selected.push(showTopic);
  renamed.push((kept) => {
    byId("topic-choice").replaceChildren(...topicOptions());
    byId("topic-choice").value = String(chosen.topic);
    showName(chosen.topic);
    if (!kept) byId("naming-help").textContent += " Save the names as CSV: this browser does not remember them.";
  });
}
