// Topics by group: the chosen one over years, dates or categories, beside another, and those that differ most.

const CATEGORY_ROW = 24; // pixels
const CATEGORIES_SHOWN = 30; // those with the most documents
const DIFFER_SHOWN = 6;
const FEWEST_DOCUMENTS = 5; // in a group, to be named as one that differs
const grouping = () => page.groups[Number(byId("group-column").value)];
const isOrdered = (by) => by.kind !== "text";

// Where a group is on the axis: a number, or the start of a span of time.
function placeOnAxis(by, i) {
  const at = by.at[i];
  if (by.kind !== "date" || typeof at === "number") return at;
  const quarter = /^(\d{4})-Q([1-4])$/.exec(at);
  return quarter ? Date.UTC(Number(quarter[1]), 3 * (Number(quarter[2]) - 1), 1) : Date.parse(at);
}

function groupsShown(by) {
  let places = by.labels.map((_, i) => i).filter((i) => by.documents[i] > 0);
  if (isOrdered(by)) return places.filter((i) => i !== by.missing);
  places.sort((a, b) => by.documents[b] - by.documents[a] || a - b);
  places = places.slice(0, CATEGORIES_SHOWN);
  return places.sort((a, b) => by.share[chosen.topic][b] - by.share[chosen.topic][a] || a - b);
}

function topicsCompared() {
  const other = byId("group-other").value;
  return other === "" || Number(other) === chosen.topic ? [chosen.topic] : [chosen.topic, Number(other)];
}

// A topic beside which another one has its colour would be taken for it.
function coloursCompared(topics) {
  const [first, second] = topics.map(colourOf);
  return second === undefined ? [first] : [first, second === first ? (first + 1) % N_TOPIC_COLOURS : second];
}

const shareIn = (by, k, i) => `${percent(by.share[k][i])} (95% from ${percent(by.low[k][i])} to ${percent(by.high[k][i])})`;

function noteOnGroups(by, shown, k) {
  const said = [];
  const isMissingShown = by.missing === null || !by.documents[by.missing] || shown.includes(by.missing);
  if (!isMissingShown) said.push(`Of ${counted(by.documents[by.missing], "document")} the ${by.name} is not known: ${shareIn(by, k, by.missing)}.`);
  const left = by.labels.filter((_, i) => by.documents[i] > 0).length - shown.length - (isMissingShown ? 0 : 1);
  if (left > 0) said.push(`Not drawn: ${counted(left, "group")} with fewer documents.`);
  if (shown.some((i) => by.documents[i] === 1)) said.push("A group of one document has too narrow an interval: it says nothing about other documents.");
  return said.join(" ");
}

function showGroups() {
  if (!page.groups.length) return;
  const by = grouping(), shown = groupsShown(by), topics = topicsCompared(), colours = coloursCompared(topics);
  const shares = topics.flatMap((k, order) => shown.map((i, rank) => ({
    at: placeOnAxis(by, i), label: by.labels[i], rank, order, topic: fullTitle(k), colour: `var(--t${colours[order]})`,
    share: by.share[k][i], low: by.low[k][i], high: by.high[k][i], documents: by.documents[i],
  })));
  const name = !isOrdered(by) ? "over_categories" : shares.some(({ at }) => Math.abs(at) > 1e6) && by.kind === "date" ? "over_dates" : "over_numbers";
  const height = isOrdered(by) ? null : CATEGORY_ROW * topics.length ** 0.5 * shown.length;
  byId("chart-groups").setAttribute("aria-label", `Share of ${fullTitle(chosen.topic)} by ${by.name}: `
    + shown.slice(0, CATEGORIES_SHOWN).map((i) => `${by.labels[i]} ${percent(by.share[chosen.topic][i])}`).join(", "));
  const areWhole = shares.every(({ at }) => Number.isInteger(at)); // years have no halves
  redraw("chart-groups", name, { shares }, { nearest_ticks: areWhole ? 1 : 0 }, height);
  byId("group-keys").replaceChildren(...topics.map((k, order) => element("span", {}, swatch(colours[order]), ` ${fullTitle(k)}`)));
  byId("group-note").textContent = noteOnGroups(by, shown, chosen.topic);
}

// By how much the interval of the largest group lies above that of the smallest: what is hardly chance.
function apart(by, k, places) {
  let most = places[0], least = places[0];
  for (const i of places) {
    if (by.low[k][i] > by.low[k][most]) most = i;
    if (by.high[k][i] < by.high[k][least]) least = i;
  }
  return { k, most, least, by: by.low[k][most] - by.high[k][least] };
}

function showExtremes() {
  if (!page.groups.length) return;
  const by = grouping();
  const places = by.labels.map((_, i) => i).filter((i) => i !== by.missing && by.documents[i] >= FEWEST_DOCUMENTS);
  const found = places.length < 2 ? [] : page.topics.map((_, k) => apart(by, k, places)).filter((one) => one.by > 0)
    .sort((a, b) => b.by - a.by).slice(0, DIFFER_SHOWN);
  const items = found.map(({ k, most, least }) => element("li", {},
    element("button", { type: "button", class: "neighbour differs", onclick: () => choose(k) },
      swatch(colourOf(k)), element("span", {}, element("b", {}, fullTitle(k)), element("span", { class: "soft" },
        `${percent(by.share[k][most])} in ${by.labels[most]}, ${percent(by.share[k][least])} in ${by.labels[least]}`)))));
  if (!items.length) items.push(element("li", { class: "soft" }, "No topic differs by more than chance between groups that are large enough."));
  byId("group-extremes").replaceChildren(...items);
}

function fillCompared() {
  const kept = byId("group-other").value;
  byId("group-other").replaceChildren(element("option", { value: "" }, "no other topic"), ...topicOptions());
  byId("group-other").value = kept;
}

function startGroups() {
  if (!page.groups.length) return;
  fillCompared();
  showExtremes();
  byId("group-column").addEventListener("change", () => { showGroups(); showExtremes(); });
  byId("group-other").addEventListener("change", showGroups);
  selected.push(showGroups);
  renamed.push(() => { fillCompared(); showGroups(); showExtremes(); });
}
