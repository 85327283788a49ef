// The table of topics: it comes with the page; here it is sorted, searched and shortened.

const ROWS_SHOWN = 12;
const table = {
  rows: [...document.querySelectorAll("#topic-table tbody tr")],
  sort: "topic",
  descending: false,
  all: false,
};

const topicOf = (row) => Number(row.dataset.topic);
// A number that a topic does not have comes last, in both directions.
const sortKey = (row) => (row.dataset[table.sort] === "" ? null : Number(row.dataset[table.sort]));

function compareRows(a, b) {
  const [x, y] = [sortKey(a), sortKey(b)];
  if (x === null || y === null) return (x === null) - (y === null);
  return (table.descending ? y - x : x - y) || topicOf(a) - topicOf(b);
}

function rowMatches(row, words) {
  const k = topicOf(row);
  if (words.length === 1 && /^\d+$/.test(words[0])) return k === Number(words[0]) || page.top[k].includes(words[0]);
  const terms = page.topics[k].terms.map((v) => page.vocabulary[v]).join(" ");
  const text = `${names[k] || ""} ${terms}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

function showTable() {
  const words = byId("topic-search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = table.rows.filter((row) => rowMatches(row, words)).sort(compareRows);
  const shown = table.all ? found : found.slice(0, ROWS_SHOWN);
  byId("topic-table").tBodies[0].replaceChildren(...shown);
  byId("topic-count").textContent = words.length
    ? `${number(found.length)} of ${counted(table.rows.length, "topic")}`
    : counted(table.rows.length, "topic");
  const more = byId("topic-more");
  more.hidden = found.length <= ROWS_SHOWN;
  more.textContent = table.all ? `Show the first ${ROWS_SHOWN}` : `Show all ${number(found.length)}`;
}

function sortBy(button) {
  const column = button.dataset.sort;
  // Large numbers first, but topics by their number.
  table.descending = table.sort === column ? !table.descending : column !== "topic";
  table.sort = column;
  for (const other of document.querySelectorAll("#topic-table th[aria-sort]")) other.removeAttribute("aria-sort");
  button.parentElement.setAttribute("aria-sort", table.descending ? "descending" : "ascending");
  showTable();
}

function showRowChosen(topic) {
  for (const row of table.rows) {
    const isChosen = topicOf(row) === topic;
    row.classList.toggle("is-chosen", isChosen);
    row.querySelector(".pick").setAttribute("aria-pressed", String(isChosen));
  }
}

function showRowNames() {
  for (const row of table.rows) {
    const k = topicOf(row);
    const name = row.querySelector(".name");
    name.textContent = names[k] ? `${k} ${names[k]}` : String(k);
    name.classList.toggle("bare", !names[k]);
  }
  byId("topic-table").classList.toggle("with-names", Object.keys(names).length > 0);
  byId("download-names").hidden = !Object.keys(names).length;
}

function downloadNames() {
  const quoted = (text) => `"${text.replaceAll('"', '""')}"`;
  const lines = page.top.map((_, k) => `${k},${quoted(names[k] || "")},${quoted(firstTerms(k, 10))}`);
  const file = new Blob([`topic,name,terms\n${lines.join("\n")}\n`], { type: "text/csv" });
  const link = element("a", { href: URL.createObjectURL(file), download: "topic-names.csv" });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function startTable() {
  for (const button of document.querySelectorAll("#topic-table [data-sort]")) {
    button.addEventListener("click", () => sortBy(button));
  }
  byId("topic-table").tBodies[0].addEventListener("click", (event) => {
    const row = event.target.closest("tr");
    if (row) { choose(topicOf(row)); openPeek(row); }
  });
  byId("topic-search").addEventListener("input", afterTyping(showTable));
  byId("topic-more").addEventListener("click", () => { table.all = !table.all; showTable(); });
  byId("download-names").addEventListener("click", downloadNames);
  selected.push(showRowChosen);
  renamed.push(showRowNames);
  showRowNames();
  showTable();
}
