// The map: positions come with the data; where they are on screen, and which labels fit, is decided here.

const MAP_FILLED = 0.14; // of the map by circles
const LARGEST_RADIUS = 62;
const SMALLEST_LABELLED = 12; // a label on a smaller circle would hide it
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
    colour: `var(--t${colourOf(k)})`,
    radius: radius[k],
    area: Math.PI * radius[k] ** 2,
    target: Math.max(SMALLEST_TARGET, Math.PI * radius[k] ** 2),
    px: width / 2 + (topic.x - x.middle) * stretch,
    py: height / 2 - (topic.y - y.middle) * stretch,
  }));
}

// How wide a text is on screen.
const ruler = document.createElement("canvas").getContext("2d");
function widthOf(text, font) {
  ruler.font = `${font} ${charts.map.config.font}`;
  return ruler.measureText(text).width;
}

const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

// Where a label may stand: on its circle, unless it would hide it, or beside it.
function labelPlaces({ px, py, radius }, wide, high, width, height) {
  const away = radius + 3;
  const on = [px - wide / 2, py - high / 2];
  const beside = [[px + away, py - high / 2], [px - away - wide, py - high / 2], [px - wide / 2, py - away - high], [px - wide / 2, py + away]];
  return [...(radius < SMALLEST_LABELLED ? [] : [on]), ...beside]
    .map((at) => [at === on ? Math.max(0, Math.min(width - wide, at[0])) : at[0], at[1], at !== on]) // not over the edge
    .map(([left, top, isBeside]) => ({ left, top, right: left + wide, bottom: top + high, beside: isBeside }))
    .filter((box) => box.left >= 0 && box.right <= width && box.top >= 0 && box.bottom <= height);
}

// The chosen topic's label first, then those of large ones. One that would cover another, or the middle of
// another circle, is left out, and so is one beside its circle that would touch another: it would seem to be
// that one's. Pointing at a circle says what it is.
function mapLabels(circles, width, height) {
  const placed = [];
  const around = ({ topic, px, py }, r) => ({ topic, left: px - r, right: px + r, top: py - r, bottom: py + r });
  const middles = circles.map((circle) => around(circle, Math.min(circle.radius, 4) + 1));
  const wholes = circles.map((circle) => around(circle, circle.radius));
  const fits = (box, topic) => !placed.some((other) => meet(box, other))
    && !(box.beside ? wholes : middles).some((other) => other.topic !== topic && meet(box, other));
  const first = circles.find((circle) => circle.topic === chosen.topic);
  for (const circle of [first, ...circles.filter((circle) => circle !== first)]) {
    const title = circle.title.length > 18 ? `${circle.title.slice(0, 17)}…` : circle.title;
    const terms = names[circle.topic] ? "" : ownTerms(circle.topic, 2);
    for (const second of terms ? [terms, ""] : [""]) {
      const wide = Math.max(widthOf(title, "bold 13px"), second ? widthOf(second, "11px") : 0) + 6;
      const box = labelPlaces(circle, wide, second ? 30 : 16, width, height).find((one) => fits(one, circle.topic));
      if (!box) continue;
      placed.push({ ...box, topic: circle.topic, title, terms: second });
      break;
    }
  }
  return placed.map(({ left, right, top, title, terms, topic }) => ({ px: (left + right) / 2, py: top + 9, title, terms, topic }));
}

function showMap() {
  const width = byId("chart-map").clientWidth, height = Math.round(Math.max(320, Math.min(540, width * 0.95)));
  const topics = mapLayout(width, height);
  const sets = { topics, labels: mapLabels(topics, width, height) };
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
    if (item && item.datum && item.datum.topic !== undefined) { choose(item.datum.topic); openPeek(box); }
  });
}
