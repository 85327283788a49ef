// The map: positions come with the data; where they are on screen, and which labels fit, is decided here.

const MAP_FILLED = 0.14; // of the map by circles
const LARGEST_RADIUS = 62;
const SMALLEST_TARGET = 260; // square pixels that a finger or mouse can hit

function mapLayout(width, height) {
  const topics = page.topics;
  const total = topics.reduce((sum, topic) => sum + topic.weight, 0) || 1;
  const unit = Math.sqrt((MAP_FILLED * width * height) / Math.PI / total);
  const largest = Math.max(...topics.map((topic) => topic.weight));
  const scale = Math.min(unit, LARGEST_RADIUS / Math.sqrt(largest));
  const radius = topics.map((topic) => Math.max(2.5, scale * Math.sqrt(topic.weight)));
  const place = (axis, room) => {
    const values = topics.map((topic) => topic[axis]);
    const pad = Math.max(...radius) + 14;
    const [low, high] = [Math.min(...values), Math.max(...values)];
    return { low, middle: (low + high) / 2, stretch: (room - 2 * pad) / Math.max(high - low, 1e-9) };
  };
  const x = place("x", width), y = place("y", height);
  const stretch = Math.min(x.stretch, y.stretch); // the same for both, or distances would lie
  return topics.map((topic, k) => ({
    topic: k,
    title: names[k] ? `${k} ${names[k]}` : String(k),
    terms: firstTerms(k, 6),
    share: percent(topic.weight),
    colour: `var(--t${k % N_COLOURS})`,
    radius: radius[k],
    area: Math.PI * radius[k] ** 2,
    target: Math.max(SMALLEST_TARGET, Math.PI * radius[k] ** 2),
    px: width / 2 + (topic.x - x.middle) * stretch,
    py: height / 2 - (topic.y - y.middle) * stretch,
  }));
}

// Labels of large topics first; one that would cover another is left out.
function mapLabels(circles, width) {
  const placed = [];
  const boxOf = (px, py, w, h) => ({ left: px - w / 2, right: px + w / 2, top: py - h / 2, bottom: py + h / 2 });
  const hits = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const fits = (box) => !placed.some((other) => hits(box, other.box));
  const first = circles.find((circle) => circle.topic === chosen.topic);
  for (const circle of [first, ...circles.filter((circle) => circle !== first)]) {
    const title = circle.title.length > 18 ? `${circle.title.slice(0, 17)}…` : circle.title;
    const terms = names[circle.topic] ? "" : ownTerms(circle.topic, 2);
    for (const second of [terms, ""]) {
      const wide = 6.2 * Math.max(title.length * 1.2, second.length) + 6;
      const px = Math.max(wide / 2, Math.min(width - wide / 2, circle.px)); // not over the edge
      const box = boxOf(px, circle.py + (second ? 6 : 0), wide, second ? 30 : 16);
      if (!fits(box) && circle !== first) continue;
      placed.push({ box, px, py: circle.py, title, terms: second });
      break;
    }
  }
  return placed.map(({ px, py, title, terms }) => ({ px, py, title, terms }));
}

function showMap() {
  const width = byId("chart-map").clientWidth, height = Math.round(Math.max(320, Math.min(500, width * 0.95)));
  const topics = mapLayout(width, height);
  const sets = { topics, labels: mapLabels(topics, width) };
  return [sets, height];
}

async function startMap() {
  const box = byId("chart-map");
  const update = () => draw("chart-map", "map", showMap()[0], { selected: chosen.topic });
  const [sets, height] = showMap();
  const drawing = draw("chart-map", "map", sets, { selected: chosen.topic }, height);
  selected.push(update);
  renamed.push(update);
  box.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (by) { event.preventDefault(); step(by); }
  });
  addEventListener("resize", afterTyping(update, 200));
  (await drawing).addEventListener("click", (event, item) => {
    if (item && item.datum && item.datum.topic !== undefined) select(item.datum.topic);
  });
}
