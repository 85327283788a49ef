// The chosen topic in short, beside the table and the map; where there is no room beside them, as a sheet from below.

const TERM_ROW = 19; // pixels
const TERMS_BESIDE = 15;
const lambda = () => Number(byId("relevance").value);
const isSheet = () => getComputedStyle(byId("peek")).position === "fixed";

function showBars() {
  const k = chosen.topic, topic = page.topics[k];
  byId("relevance-value").textContent = `λ = ${lambda().toFixed(2)}`;
  byId("bars-title").textContent = `Terms of ${shortTitle(k).replace(/^Topic/, "topic")}`;
  const bars = relevant(k, lambda()).slice(0, TERMS_BESIDE).map((i, rank) => {
    const v = topic.terms[i], total = page.counts[v];
    return { rank, term: page.vocabulary[v], total, inside: Math.min(total, topic.phi[i] * topic.weight * page.n_words) };
  });
  draw("chart-bars", "bars", { bars }, {}, TERM_ROW * bars.length);
}

function showPeekName(k) {
  byId("peek-title").replaceChildren(swatch(colourOf(k)), ` ${shortTitle(k)}`);
}

function showPeek(k) {
  const topic = page.topics[k];
  showPeekName(k);
  showTrust(byId("peek-trust"), topic);
  byId("peek-share").textContent = `${percent(topic.weight)} of the words, 95% from ${percent(topic.low)} to ${percent(topic.high)}`;
  const [best] = topic.documents;
  byId("peek-document").replaceChildren(...(best ? documentCard(best[0], best[1], k) : [element("p", { class: "soft" }, NO_DOCUMENT)]));
  byId("peek").scrollTop = 0;
  byId("said").textContent = `${fullTitle(k)}, ${percent(topic.weight)} of the words`; // for those who hear the page
}

// A sheet must not cover what was pressed.
function openPeek(pressed) {
  byId("peek").dataset.open = "";
  if (!isSheet() || !pressed) return;
  const covered = pressed.getBoundingClientRect().bottom - (innerHeight - byId("peek").offsetHeight); // where it will be
  if (covered > 0) scrollBy({ top: covered + 8 });
}

function closePeek() {
  const hadFocus = isSheet() && byId("peek").contains(document.activeElement);
  delete byId("peek").dataset.open;
  const button = document.querySelector("#topic-table .is-chosen .pick");
  if (hadFocus && button) button.focus({ preventScroll: true });
}

function startPeek() {
  byId("peek-previous").addEventListener("click", () => step(-1));
  byId("peek-next").addEventListener("click", () => step(1));
  byId("peek-close").addEventListener("click", closePeek);
  byId("peek-all").addEventListener("click", () => { delete byId("peek").dataset.open; });
  byId("peek-document").addEventListener("click", (event) => { if (event.target.closest("button")) delete byId("peek").dataset.open; });
  addEventListener("keydown", (event) => { if (event.key === "Escape" && isSheet()) closePeek(); });
  byId("relevance").addEventListener("input", showBars);
  selected.push(showBars, showPeek);
  renamed.push(() => { showPeekName(chosen.topic); showBars(); });
}
