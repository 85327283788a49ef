// The chains: number of topics, traces, sizes of topics, and the family tree.

const chainName = (chain) => `chain ${chain.number}`;
const LANE = 26;
const tree = { chain: null }; // that is shown

function chainKeys(withStart) {
  if (page.chains.length < 2) return [];
  return page.chains.map((chain, c) => {
    const start = { sequential: "from words seated one by one", one: "from one topic", fitted: "from fitted topics", consensus: "from topics that short runs agree on", counts: "from topics fitted to the counts", topics: "from given topics", "seed words": "from seed words" }[chain.start] || `from ${chain.start} random topics`;
    return element("span", {}, element("i", { class: `swatch c${c % N_COLOURS}` }), ` ${chainName(chain)}${withStart ? `, ${start}` : ""}`);
  });
}

// ---------------------------------------------------------------- number of topics

function topicCounts(chains, outOf) {
  const all = page.chains.flatMap((chain) => chain.n_topics.map(([n]) => n));
  const width = Math.max(1, Math.ceil((Math.max(...all) - Math.min(...all) + 1) / 40));
  const total = outOf.reduce((sum, chain) => sum + chain.n_topics.reduce((part, [, times]) => part + times, 0), 0);
  const bins = new Map();
  const binOf = (chain, n) => {
    const first = Math.floor(n / width) * width, key = `${chain.number}/${first}`;
    if (!bins.has(key)) {
      const words = width > 1 ? `${first} to ${first + width - 1}` : String(first);
      bins.set(key, { chain: chainName(chain), order: chain.number, from: first - 0.44, to: first + width - 0.56, share: 0, n: words });
    }
    return bins.get(key);
  };
    // Empty ones too, so that all pictures have the same width.
  for (const n of [Math.min(...all) - width, ...all, Math.max(...all) + width]) binOf(chains[0], n);
  for (const chain of chains) {
    for (const [n, times] of chain.n_topics) binOf(chain, n).share += times / total;
  }
  return [...bins.values()];
}

// ---------------------------------------------------------------- traces

function curvesOf(quantity) {
  return page.chains.flatMap((chain) =>
    chain.trace.sweep.map((sweep, i) => ({ chain: chainName(chain), sweep, value: chain.trace[quantity][i] })));
}

function acceptedOf(quantity) {
  return page.chains.flatMap((chain) => ["splits", "merges"].flatMap((kind) =>
    chain.trace.sweep.map((sweep, i) => ({
      chain: chainName(chain), sweep, kind, value: chain.trace[quantity][i],
      times: chain.trace[kind][i], what: counted(chain.trace[kind][i], kind.slice(0, -1)),
    })).filter((mark) => mark.times > 0)));
}

function drawTraces() {
  const burnIn = [{ from: 0, to: Math.max(...page.chains.map((chain) => chain.burn_in)) }];
  for (const quantity of ["n_topics", "log_joint", "alpha", "gamma", "eta"]) {
    if (!byId(`chart-trace-${quantity}`)) continue;
    let curves = curvesOf(quantity);
    if (quantity === "log_joint") curves = withoutTheFall(curves, burnIn[0].to);
    draw(`chart-trace-${quantity}`, "trace", {
      burn_in: burnIn[0].to > 0 ? burnIn : [], curves, accepted: quantity === "n_topics" ? acceptedOf(quantity) : [],
    });
  }
}

// A chain starts far away; its first sweeps would flatten all that follows into a line.
function withoutTheFall(curves, burnIn) {
  const later = curves.filter(({ sweep }) => sweep >= burnIn / 3).map(({ value }) => value);
  const [low, high] = [Math.min(...later), Math.max(...later)];
  const room = (high - low) / 2 || 1;
  return curves.map((point) => ({ ...point, value: point.value < low - room || point.value > high + room ? null : point.value }));
}

// ---------------------------------------------------------------- sizes of topics

function bandsOf(chain) {
  const first = (band) => (band ? page.band_ends[band - 1] + 1 : 1);
  const title = (band) => {
    const last = page.band_ends[band];
    return first(band) === last ? `number ${last}` : `numbers ${first(band)} to ${last}`;
  };
  return chain.mass.flatMap((upTo, i) => upTo.map((high, band) => ({
    sweep: chain.draws[i], band, low: band ? upTo[band - 1] : 0, high, colour: `var(--m${band})`, title: title(band),
  })));
}

// ---------------------------------------------------------------- ranks

const RANKS_LANE = 46; // pixels, of a chain
const ROOM_ABOVE = 1.12;

function ranksOf({ chains, ranks }) {
  const lane = ROOM_ABOVE * Math.max(2, ...ranks.flat());
  const bins = [], expected = [];
  chains.forEach((chain, c) => {
    const base = lane * (chains.length - 1 - c), n = ranks[c].length; // the first chain on top
    expected.push({ at: base + 1 });
    ranks[c].forEach((times, i) => bins.push({ chain: `chain ${chain}`, base, top: base + times, times, from: i / n, to: (i + 1) / n }));
  });
  return { bins, expected };
}

// ---------------------------------------------------------------- family tree

// A topic of a chain is called by the listed topic that it is, or by its terms.
function called({ topic, terms }) {
  if (topic >= 0) return fullTitle(topic);
  return terms.length ? `not listed: ${terms.join(", ")}` : "not listed, gone before a draw was kept";
}

function lifeInWords(life) {
  const began = { start: "at the start", born: `began with one word, in sweep ${number(life.from)}`, split: `split off ${called(life.parent)}, in sweep ${number(life.from)}` };
  const ended = { alive: "still there", died: `died out in sweep ${number(life.to)}`, merged: `merged into ${called(life.heir)}, in sweep ${number(life.to)}` };
  return { began: began[life.origin], ended: ended[life.fate], title: called(life) };
}

function familySets(chain) {
  const { lives, links, passing } = chain.family;
  const rows = lives.map((life) => ({
    ...life, ...lifeInWords(life),
    width: 2 + 16 * Math.sqrt(life.share),
    colour: life.topic >= 0 ? `var(--t${colourOf(life.topic)})` : "var(--mark)",
    size: life.share ? percent(life.share) : "not in a draw",
    label: life.topic >= 0 ? fullTitle(life.topic) : life.terms.length ? `(${life.terms.join(", ")})` : "(gone early)",
    side: life.from > 0.55 * chain.sweeps ? "right" : "left",
  }));
  const ends = lives.flatMap((life) => [
    ...(life.origin === "start" ? [] : [{ sweep: life.from, lane: life.lane, kind: life.origin }]),
    ...(life.fate === "alive" ? [] : [{ sweep: life.to, lane: life.lane, kind: life.fate }]),
  ]);
  return { lives: rows, links, passing, ends };
}

function showChosenInTree(topic) {
  const isThere = tree.chain.family.lives.some((life) => life.topic === topic);
  byId("family-chosen").replaceChildren("Chosen: ", swatch(colourOf(topic)), ` ${fullTitle(topic)}${isThere ? "" : ", not in this tree"}.`);
}

function showFamily(chain) {
  const { family } = chain;
  for (const button of byId("family-chains").children) {
    button.setAttribute("aria-pressed", String(Number(button.dataset.chain) === chain.number));
  }
  const left = family.all - family.lives.length;
  const unlisted = family.lives.some((life) => life.topic < 0)
    ? " In parentheses: terms of topics that the table does not have." : "";
  byId("family-note").textContent = (left
    ? `Left out: ${number(left)} of ${counted(family.all, "topic")} that this chain has had. Shown: the largest of those that had ${100 * family.size}% of the words in a draw, or lasted ${counted(family.shortest, "sweep")}.`
    : `All ${counted(family.all, "topic")} that this chain has had.`) + unlisted;
  tree.chain = chain;
  showChosenInTree(chosen.topic);
  redraw("chart-family", "family", familySets(chain), { selected: chosen.topic }, LANE * family.lives.length + 20)
    .then((view) => view.addEventListener("click", (event, item) => {
      if (item && item.datum && item.datum.topic >= 0) choose(item.datum.topic);
    }));
}

function startFamily() {
  const buttons = page.chains.map((chain) =>
    element("button", { type: "button", "data-chain": chain.number, onclick: () => showFamily(chain) }, `Chain ${chain.number}`));
  byId("family-chains").replaceChildren(...buttons);
  byId("family-chains").hidden = buttons.length < 2;
  showFamily(page.chains[0]);
  selected.push((topic) => { draw("chart-family", "family", {}, { selected: topic }); showChosenInTree(topic); });
  renamed.push(() => { draw("chart-family", "family", familySets(tree.chain), {}); showChosenInTree(chosen.topic); });
}

function startRuns() {
  byId("run-keys").replaceChildren(...chainKeys(true));
  drawTraces();
  for (const chain of page.chains) {
    draw(`chart-mass-${chain.number}`, "mass", { bands: bandsOf(chain) });
    draw(`chart-k-${chain.number}`, "n_topics", { counts: topicCounts([chain], [chain]) });
  }
  page.ranks.forEach((one, i) => draw(`chart-ranks-${i}`, "ranks", ranksOf(one), {}, RANKS_LANE * one.chains.length));
}

function startAnswer() {
  byId("chain-keys").replaceChildren(...chainKeys(false));
  draw("chart-n-topics", "n_topics", { counts: topicCounts(page.chains, page.chains) });
}
