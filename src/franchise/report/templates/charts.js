// Charts: drawn one after another, so that the page stays responsive; later only their data change.

const charts = read("report-charts");
const views = new Map();
const ERRORS_ONLY = 1; // of Vega: it warns of data sets that are empty
let turn = Promise.resolve();

const breathe = () => new Promise((resume) => setTimeout(resume, 0));

// Draws a chart of `specifications`, or gives new data to the one that is there.
function draw(id, name, sets, signals = {}, height = null) {
  if (!byId(id)) return Promise.resolve();
  const before = views.get(id) || Promise.resolve(null);
  const view = before.then((there) => (there ? refresh(there, sets, signals) : embed(id, name, sets, signals, height)));
  views.set(id, view);
  return view;
}

function redraw(id, name, sets, signals, height) {
  const before = views.get(id) || Promise.resolve(null);
  views.set(id, before.then((view) => { if (view) view.finalize(); return null; }));
  return draw(id, name, sets, signals, height);
}

function embed(id, name, sets, signals, height) {
  const drawn = turn.then(breathe).then(async () => {
    const spec = structuredClone(charts[name]);
    spec.datasets = sets;
    for (const parameter of spec.params || []) {
      if (parameter.name in signals) parameter.value = signals[parameter.name];
    }
    if (height) spec.height = height;
    // Vega calls every chart a "Vega visualization"; the page says what it shows.
    const said = { role: byId(id).getAttribute("role"), "aria-label": byId(id).getAttribute("aria-label") };
    // `ast`: expressions are interpreted, so the page may forbid eval.
    const options = { actions: false, renderer: "svg", ast: true, tooltip: { theme: "own" }, logLevel: ERRORS_ONLY };
    const { view } = await vegaEmbed(byId(id), spec, options);
    byId(id).removeAttribute("aria-roledescription");
    for (const [attribute, value] of Object.entries(said)) byId(id).setAttribute(attribute, value);
    return view;
  });
  turn = drawn.catch(() => null);
  return drawn;
}

async function refresh(view, sets, signals) {
  for (const [name, rows] of Object.entries(sets)) view.data(name, structuredClone(rows));
  for (const [name, value] of Object.entries(signals)) view.signal(name, value);
  await view.runAsync();
  return view;
}
