// What all parts of the page share: the data, the chosen topic, names of topics, and how things are written.
// Text from documents only ever becomes text nodes and attributes, never markup.

const byId = (id) => document.getElementById(id);
const read = (id) => JSON.parse(byId(id).textContent);
const page = read("report-data");
const N_COLOURS = 7; // of chains
const N_TOPIC_COLOURS = 10;

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

// ---------------------------------------------------------------- numbers and words

const number = (n) => n.toLocaleString("en");
const counted = (n, thing) => `${number(n)} ${thing}${n === 1 ? "" : "s"}`;

function percent(share) {
  if (share === null) return "-";
  if (share > 0 && share < 0.001) return "<0.1%";
  return `${(100 * share).toFixed(1)}%`;
}

const inWords = (items) =>
  items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} and ${items[items.length - 1]}`;

// ---------------------------------------------------------------- the browser's memory, where it has one

const memory = {
  get(key) {
    try { return localStorage.getItem(key); } catch { return null; }
  },
  set(key, value) {
    try { localStorage.setItem(key, value); return true; } catch { return false; }
  },
};

// ---------------------------------------------------------------- topics and their names

const namesKey = `franchise-names-${page.identity}`;
// Of topics, by number: those that the model has, and over them those given in this browser ("" takes one away).
const ownNames = JSON.parse(memory.get(namesKey) || "{}");
const names = Object.fromEntries(Object.entries({ ...page.labels, ...ownNames }).filter(([, name]) => name));
const shortTitle = (k) => (names[k] ? `${k} ${names[k]}` : `Topic ${k}`);
const firstTerms = (k, n) => page.top[k].slice(0, n).join(", ");
const ownTerms = (k, n) => page.own[k].slice(0, n).join(", "); // what sets it apart
const fullTitle = (k) => (names[k] ? `${k} ${names[k]}` : `${k}: ${ownTerms(k, 3)}`);
const colourOf = (k) => page.topics[k].colour; // topics beside each other differ
const swatch = (colour) => element("i", { class: `swatch t${colour}` });

function rename(k, name) {
  ownNames[k] = name.trim();
  if (ownNames[k]) names[k] = ownNames[k];
  else delete names[k];
  const kept = memory.set(namesKey, JSON.stringify(ownNames));
  renamed.forEach((listener) => listener(kept));
}

const chosen = { topic: 0 };
const selected = []; // called when another topic is chosen
const renamed = []; // called when a topic gets a name

function select(topic) {
  chosen.topic = Math.max(0, Math.min(page.topics.length - 1, topic));
  selected.forEach((listener) => listener(chosen.topic));
}

// ---------------------------------------------------------------- the chosen topic in the address

const topicInAddress = () => { const found = /^#topic-(\d+)$/.exec(location.hash); return found && Number(found[1]); };

// Some places where a page can be shown have no address that scripts may change.
function putInAddress(topic, replace) {
  const address = `#topic-${topic}`;
  if (location.hash === address) return;
  try { history[replace ? "replaceState" : "pushState"](null, "", address); } catch { /* the topic is shown all the same */ }
}

// What the reader chooses can be gone back from; going through topics one by one leaves no trail.
function choose(topic, replace = false) {
  select(topic);
  putInAddress(chosen.topic, replace);
}

const step = (by) => choose((chosen.topic + by + page.topics.length) % page.topics.length, true);

// Back, forward, or an address typed in; a part of the page is no topic, and leaves the choice as it is.
function followAddress() {
  const topic = topicInAddress();
  if (topic !== null) select(topic);
  else if (!location.hash) { select(0); closePeek(); }
}

// ---------------------------------------------------------------- theme

function switchTheme() {
  const root = document.documentElement;
  const now = root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  root.dataset.theme = now === "dark" ? "light" : "dark";
  memory.set("franchise-theme", root.dataset.theme);
}

function startTheme() {
  const kept = memory.get("franchise-theme");
  if (kept === "light" || kept === "dark") document.documentElement.dataset.theme = kept;
  byId("theme").addEventListener("click", switchTheme);
}

// ---------------------------------------------------------------- the topic named in the bar

function showChosen() {
  const link = byId("chosen");
  link.replaceChildren(swatch(colourOf(chosen.topic)), ` ${fullTitle(chosen.topic)}`);
  link.hidden = false;
}

// Typing fast should not search at every key.
function afterTyping(act, wait = 120) {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(act, wait);
  };
}
