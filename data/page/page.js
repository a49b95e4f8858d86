// The page of a run (docs/page.md). All that comes from a run becomes text: only `make` and `draw` build elements, and neither
// takes markup.
"use strict";
(() => {
const SVG = "http://www.w3.org/2000/svg";
const page = document.getElementById("page");

// ---- elements ----

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked" || name === "selected") node[name] = value;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(3)) if (child !== null && child !== undefined && child !== "") node.append(child);
  return node;
}
const make = (tag, attributes, ...children) => filled(document.createElement(tag), attributes, children);
const draw = (tag, attributes, ...children) => filled(document.createElementNS(SVG, tag), attributes, children);

// ---- numbers ----

const digits = (value, n) => {
  if (!(Math.abs(value) > 0)) return "0";
  const places = n - 1 - Math.floor(Math.log10(Math.abs(value)));
  return places >= 0 ? value.toFixed(Math.min(places, 12)) : String(Math.round(value));
};
function seconds(value, n = 4) {
  if (value === null || value === undefined || !isFinite(value)) return "";
  const size = Math.abs(value);
  if (size === 0) return "0 s";
  if (size < 1e-6) return digits(value * 1e9, n) + " ns";
  if (size < 1e-3) return digits(value * 1e6, n) + " us";
  if (size < 1) return digits(value * 1e3, n) + " ms";
  return digits(value, n) + " s";
}
function duration(value) {
  if (value < 10) return digits(value, 2) + " s";
  if (value < 60) return Math.round(value) + " s";
  const pad = (x) => String(x).padStart(2, "0");
  const whole = Math.round(value);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${pad(whole % 60)} s`;
  return `${Math.floor(whole / 3600)} h ${pad(Math.floor((whole % 3600) / 60))} min`;
}
function engineering(value, n = 3) {
  for (const [size, name] of [[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]])
    if (Math.abs(value) >= size) return digits(value / size, n) + " " + name;
  return digits(value, n) + " ";
}
const scoreText = (s) => typeof s === "number" ? s.toFixed(3) : "";
const speedup = (s) => s ? `${s[0].toFixed(2)}x (${s[1].toFixed(2)} to ${s[2].toFixed(2)})` : "";
const percent = (part) => (100 * part).toFixed(part < 0.095 && part > 0 ? 1 : 0) + " %";
const plural = (n, what) => `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;

// ---- what is shown ----

let data = null;
let run = null;
const state = {run: 0, x: "trials", sort: "trial", down: false, at: 0, filter: "", verdict: "", brush: {}, open: null, tab: "", mapX: "", mapY: ""};
const VERDICT_COLOURS = ["--green", "--grey", "--grey", "--orange", "--yellow", "--orange", "--yellow", "--pink", "--pink", "--grey"];
const LINES = ["--blue", "--orange", "--green", "--pink", "--yellow", "--sky"];
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/// Columns of trials with what is derived of them.
function prepared(report) {
  const t = report.trials, n = t.id.length;
  report.count = n;
  report.place = new Map(t.id.map((id, i) => [id, i]));
  report.ok = t.verdict.map((v) => v === 0);
  report.right = [];
  for (let i = 0; i < n; ++i) if (report.ok[i]) report.right.push(i);
  report.fastest = report.right.slice().sort((a, b) => t.seconds[a] - t.seconds[b]);
  report.rank = new Float64Array(n).fill(1);
  report.fastest.forEach((i, r) => { report.rank[i] = report.fastest.length > 1 ? r / (report.fastest.length - 1) : 0; });
  report.best = report.winner === null ? -1 : report.place.get(report.winner) ?? -1;
  report.varied = report.tunables.map((tunable, i) => ({...tunable, i})).filter((tunable) => tunable.values.length > 1);
  report.varied.sort((a, b) => (b.importance ?? 0) - (a.importance ?? 0));
  report.moves = t.parents.some((p) => p.length > 0) || t.kind.some((k) => report.texts[k] !== "");
  report.asked = new Map();
  report.exchanges.forEach((exchange, e) => exchange.trials.forEach((id) => {
    if (!report.asked.has(id)) report.asked.set(id, []);
    report.asked.get(id).push(e);
  }));
  return report;
}
const verdictName = (i) => run.trials.out_of_bounds && run.trials.out_of_bounds[i] ? "out_of_bounds" : data.verdicts[run.trials.verdict[i]];
const valueText = (i, tunable) => run.trials.values[i][tunable] >= 0 ? run.tunables[tunable].values[run.trials.values[i][tunable]] : "";
const shortValue = (value, most) => value === "" ? "''" : value.length > most ? value.slice(0, most - 1) + "…" : value;
const settingsText = (i) => run.tunables.map((tunable, t) => [tunable.name, valueText(i, t)]).filter(([, v]) => v !== "")
  .map(([name, value]) => `${name}=${value}`).join(" ");
const runName = (report) => report.run.id ? `run ${report.run.id}` : report.run.name || report.run.problem;
const strategiesOf = (i) => run.trials.strategies[i].map((s) => run.texts[s]).join(", ");
function moveText(i) {
  const kind = run.texts[run.trials.kind[i]], names = strategiesOf(i);
  if (kind === "ablate") return "without " + names;
  return kind === "rewrite" || kind === "branch" ? names || kind : [kind, names].filter(Boolean).join(" ");
}
function ratioText(i) {
  const parent = run.place.get(run.trials.parents[i][0]);
  if (parent === undefined || !run.ok[i] || !run.ok[parent]) return "";
  return (run.trials.seconds[parent] / run.trials.seconds[i]).toFixed(2) + "x its parent";
}

// ---- pictures on canvas ----

const plots = new Set();
const tip = make("div", {class: "tip", hidden: true, "aria-hidden": "true"});
const spoken = make("div", {class: "hidden", "aria-live": "polite"});
const say = (text) => { spoken.textContent = text; };

/// A canvas that `paint(context, width, height)` draws again whenever its size or the colours change; what it
/// returns are the places that can be pointed at: {x, y, trial, text}. `area`: a pointer reads `at(x, y)`.
function canvas(label, height, paint, options = {}) {
  const node = make("canvas", {role: options.keys ? "application" : "img", "aria-label": label, tabindex: "0"});
  node.style.height = height + "px";
  const plot = {node, places: [], at: -1};
  plot.redraw = () => {
    const width = node.clientWidth;
    if (width === 0) return;
    const scale = Math.min(3, window.devicePixelRatio || 1);
    node.width = Math.round(width * scale);
    node.height = Math.round(height * scale);
    const c = node.getContext("2d");
    c.setTransform(scale, 0, 0, scale, 0, 0);
    c.clearRect(0, 0, width, height);
    c.font = "11.5px system-ui, 'DejaVu Sans', sans-serif";
    c.textBaseline = "alphabetic";
    plot.places = paint(c, width, height) || [];
  };
  const near = (event) => {
    const box = node.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
    if (options.at) return options.at(x, y);
    let found = null, least = 20 * 20;
    for (const place of plot.places) {
      const away = (place.x - x) ** 2 + (place.y - y) ** 2;
      if (away < least) { least = away; found = place; }
    }
    return found;
  };
  node.addEventListener("pointermove", (event) => {
    const found = near(event);
    tip.hidden = !found;
    node.style.cursor = found && found.trial !== undefined ? "pointer" : "default";
    if (!found) return;
    tip.textContent = found.text || trialText(found.trial);
    const left = Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8);
    tip.style.left = Math.max(4, left) + "px";
    tip.style.top = Math.min(event.clientY + 14, window.innerHeight - tip.offsetHeight - 8) + "px";
  });
  node.addEventListener("pointerleave", () => { tip.hidden = true; });
  node.addEventListener("click", (event) => {
    const found = near(event);
    if (found && found.trial !== undefined) openTrial(found.trial);
  });
  node.addEventListener("keydown", (event) => {
    if (options.keys) { options.keys(event); return; }
    const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
    const named = plot.places.filter((place) => place.trial !== undefined);
    if (step && named.length) {
      plot.at = (plot.at + step + named.length) % named.length;
      say(named[plot.at].text || trialText(named[plot.at].trial));
      plot.redraw();
      const c = node.getContext("2d");
      c.strokeStyle = colour("--focus");
      c.lineWidth = 2;
      c.beginPath();
      c.arc(named[plot.at].x, named[plot.at].y, 7, 0, 7);
      c.stroke();
      event.preventDefault();
    } else if (event.key === "Enter" && plot.at >= 0 && named[plot.at]) openTrial(named[plot.at].trial);
  });
  plots.add(plot);
  sizes.observe(node);
  return node;
}
const redrawAll = () => { for (const plot of plots) plot.redraw(); };
const sizes = new ResizeObserver((entries) => {
  for (const entry of entries) for (const plot of plots) if (plot.node === entry.target) plot.redraw();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
let screenColours = "";
window.addEventListener("beforeprint", () => { screenColours = document.documentElement.className; document.documentElement.className = "light"; redrawAll(); });
window.addEventListener("afterprint", () => { document.documentElement.className = screenColours; redrawAll(); });

function trialText(i) {
  const t = run.trials;
  const first = `trial ${t.id[i]}: ` + (run.ok[i] ? `${seconds(t.seconds[i])} (${seconds(t.low[i])} to ${seconds(t.high[i])})`
                                                   : verdictName(i) + (run.texts[t.reason[i]] ? ": " + run.texts[t.reason[i]] : ""));
  return [first, speedup(t.speedup[i]), moveText(i), settingsText(i)].filter(Boolean).join("\n").slice(0, 600);
}

/// A linear or logarithmic scale from values to pixels with round ticks.
function scale(low, high, from, to, log) {
  if (!(high > low)) { high = low > 0 ? low * 1.02 : low + 1; low = low > 0 ? low * 0.98 : low; }
  const f = log ? Math.log : (x) => x;
  const a = f(low), b = f(high);
  const place = (value) => from + (f(value) - a) / (b - a) * (to - from);
  const ticks = [];
  if (log && high / low > 8) {
    const steps = high / low > 2000 ? [1] : [1, 2, 5];
    for (let d = Math.floor(Math.log10(low)); d <= Math.ceil(Math.log10(high)); ++d)
      for (const s of steps) if (s * 10 ** d >= low * 0.999 && s * 10 ** d <= high * 1.001) ticks.push(s * 10 ** d);
  } else {
    const rough = (high - low) / 5, size = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((s) => s * size).find((s) => s >= rough) || size;
    for (let v = Math.ceil(low / step) * step; v <= high * 1.0000001; v += step) ticks.push(Math.abs(v) < step / 1e6 ? 0 : v);
  }
  return {place, ticks, low, high};
}
function axes(c, x, y, box, xText, yText, xLabel) {
  c.strokeStyle = colour("--grid");
  c.fillStyle = colour("--soft");
  c.lineWidth = 1;
  c.textAlign = "right";
  for (const tick of y.ticks) {
    const at = Math.round(y.place(tick)) + .5;
    c.beginPath(); c.moveTo(box.left, at); c.lineTo(box.right, at); c.stroke();
    c.fillText(yText(tick), box.left - 6, at + 4);
  }
  c.textAlign = "center";
  let last = -1e9;
  for (const tick of x.ticks) {
    const at = Math.round(x.place(tick)) + .5, text = xText(tick), half = c.measureText(text).width / 2;
    if (at - half < last + 8) continue;
    last = at + half;
    c.beginPath(); c.moveTo(at, box.top); c.lineTo(at, box.bottom); c.stroke();
    c.fillText(text, Math.min(at, box.right + 8 - half), box.bottom + 15);
  }
  if (xLabel) c.fillText(xLabel, (box.left + box.right) / 2, box.bottom + 31);
}
/// What the best so far can be drawn over, and what it says below the axis; money and tokens where the run has them.
const AXES = {
  trials: {name: "trials", label: "trials", text: (v) => v.toLocaleString("en"), least: 2, at: (report, i) => i + 1},
  time: {name: "time", label: "time of the run", text: duration, least: .001, at: (report, i) => report.trials.elapsed[i]},
  tokens: {name: "tokens", label: "tokens that models had read and written", text: (v) => engineering(v, 3).trim(), least: 1, at: (report, i) => report.trials.tokens[i]},
  money: {name: "cost", label: "cost of models, by the prices of the model file", text: (v) => digits(v, 3), least: 1e-9, at: (report, i) => report.trials.money[i]},
};
const axesOf = (reports) => Object.entries(AXES).filter(([id]) => id === "trials" || id === "time" || reports.every((r) => r.trials[id])).map(([id, axis]) => [id, axis.name]);
const axisOf = (reports) => axesOf(reports).some(([id]) => id === state.x) ? state.x : "trials";

function bestSteps(report, over) {
  const steps = [];
  let best = Infinity;
  for (let i = 0; i < report.count; ++i) {
    if (!report.ok[i] || !(report.trials.seconds[i] < best)) continue;
    best = report.trials.seconds[i];
    steps.push({x: AXES[over].at(report, i), y: best, i});
  }
  return steps;
}
const endOf = (report, over) => over === "time" ? Math.max(report.run.seconds, ...report.trials.elapsed.slice(-1)) : report.count ? AXES[over].at(report, report.count - 1) : 0;
function stepLine(c, steps, end, x, y, name, width = 2) {
  if (!steps.length) return;
  c.strokeStyle = colour(name);
  c.lineWidth = width;
  c.beginPath();
  c.moveTo(x.place(steps[0].x), y.place(steps[0].y));
  for (let s = 1; s < steps.length; ++s) { c.lineTo(x.place(steps[s].x), y.place(steps[s - 1].y)); c.lineTo(x.place(steps[s].x), y.place(steps[s].y)); }
  c.lineTo(x.place(end), y.place(steps[steps.length - 1].y));
  c.stroke();
}
const bounds = (values) => {
  let low = Infinity, high = -Infinity;
  for (const v of values) { if (v < low) low = v; if (v > high) high = v; }
  return [low, high];
};

function bestPicture() {
  const over = axisOf([run]), axis = AXES[over], t = run.trials;
  const steps = bestSteps(run, over);
  const label = steps.length
    ? `Times of ${plural(run.right.length, "right trial")} and the best so far, from ${seconds(steps[0].y)} down to ${seconds(steps[steps.length - 1].y)}; ` +
      `${plural(run.count - run.right.length, "failed trial")} at the lower edge`
    : "No trial was right";
  return canvas(label, 320, (c, width, height) => {
    const box = {left: 70, right: width - 14, top: 12, bottom: height - 50};
    const failedRow = box.bottom - 4;
    const [low, high] = bounds(run.right.map((i) => t.seconds[i]));
    const x = scale(over === "trials" ? 1 : 0, Math.max(endOf(run, over), axis.least), box.left, box.right, false);
    const y = scale(low, high, failedRow - 14, box.top + 6, true);
    axes(c, x, y, box, axis.text, (v) => seconds(v, 3), axis.label);
    const places = [], dense = run.count > 3000;
    const at = (i) => x.place(axis.at(run, i));
    for (let i = 0; i < run.count; ++i) {
      const px = at(i);
      if (run.ok[i]) {
        const py = y.place(t.seconds[i]);
        if (run.right.length <= 400 && t.high[i] > t.low[i]) {
          c.strokeStyle = colour("--point"); c.lineWidth = 1; c.globalAlpha = .45;
          c.beginPath(); c.moveTo(px, y.place(Math.max(t.low[i], y.low / 2))); c.lineTo(px, y.place(t.high[i])); c.stroke();
          c.globalAlpha = 1;
        }
        places.push({x: px, y: py, trial: i});
      } else places.push({x: px, y: failedRow, trial: i});
    }
    c.fillStyle = colour("--point");
    c.globalAlpha = dense ? .35 : .8;
    const size = dense ? 2 : 5;
    for (const place of places) if (run.ok[place.trial]) c.fillRect(place.x - size / 2, place.y - size / 2, size, size);
    c.globalAlpha = dense ? .5 : 1;
    const colours = VERDICT_COLOURS.map(colour);
    for (const place of places) {
      if (run.ok[place.trial]) continue;
      c.fillStyle = colours[t.verdict[place.trial]];
      c.fillRect(place.x - (dense ? .5 : 1.5), place.y - 6, dense ? 1 : 3, 9);
    }
    c.globalAlpha = 1;
    stepLine(c, steps, endOf(run, over), x, y, "--focus");
    if (run.best >= 0) {
      c.strokeStyle = colour("--focus");
      c.beginPath(); c.arc(at(run.best), y.place(t.seconds[run.best]), 7, 0, 7); c.stroke();
    }
    return places;
  });
}

// ---- parts of the page ----

const part = (id, title, ...children) => make("section", {id, "aria-labelledby": id + "-title"}, make("h2", {id: id + "-title"}, title), children);
const trialLink = (id, text) => {
  const i = run.place.get(id);
  if (i === undefined) return text || `trial ${id}`;
  return make("button", {class: "link", onclick: () => openTrial(i)}, text || `trial ${id}`);
};
function rows(header, body, options = {}) {
  return make("div", {class: "wide", tabindex: "0", role: "region", "aria-label": options.label || "table"},
    make("table", {class: options.class}, header.length ? make("thead", null, make("tr", null, header.map((name) =>
      make("th", {scope: "col", class: typeof name === "object" ? "n" : null}, typeof name === "object" ? name.n : name)))) : null,
      make("tbody", null, body)));
}
const row = (...cells) => make("tr", null, cells.map((cell) => make("td", {class: cell && cell.n !== undefined ? "n" : null}, cell && cell.n !== undefined ? cell.n : cell)));
const num = (n) => ({n});

function choices(name, legend, options, current, choose) {
  return make("fieldset", null, make("legend", null, legend), options.map(([value, text]) => make("label", null,
    make("input", {type: "radio", name, id: `${name}-${value}`, value, checked: value === current, onchange: () => choose(value)}), text)));
}
const select = (id, label, options, current, choose) => make("label", null, label, make("select", {id, onchange: (e) => choose(e.target.value)},
  options.map(([value, text]) => make("option", {value, selected: String(value) === String(current)}, text))));

const titleOf = (report) => report.run.title;
function headline() {
  const r = run.run, t = run.trials, best = run.best;
  const tiles = [];
  const tile = (name, big, ...small) => tiles.push(make("div", {class: "tile"}, make("span", null, name), make("b", null, big), small.map((s) => make("span", null, s))));
  if (best >= 0) {
    tile("best time", seconds(t.seconds[best]), `${seconds(t.low[best])} to ${seconds(t.high[best])}`, make("span", null, trialLink(t.id[best])));
    const s = t.speedup[best];
    if (s) tile(r.evaluator === "host" ? "over the reference" : "over the default", s[0].toFixed(2) + "x", `${s[1].toFixed(2)} to ${s[2].toFixed(2)}`, s[3] ? plural(s[3], "interleaved pair") : "");
  } else tile("best time", "-", "no candidate was right");
  const counts = run.totals.verdicts;
  const failed = run.count - run.right.length;
  tile("trials", run.count.toLocaleString("en"), failed ? `${run.right.length} right, ${failed} failed` : "all right", run.totals.inner ? plural(run.totals.inner, "inner trial") : "");
  if (r.seconds > 0) tile("wall time", duration(r.seconds), r.finished ? "" : make("span", {class: "live"}, "not ended"));
  if (run.exchanges.length) {
    const tokens = run.exchanges.reduce((sum, e) => sum + e.input + e.output, 0);
    const money = t.money ? t.money[run.count - 1] : 0;
    tile("questions", String(run.exchanges.length), tokens ? `${tokens.toLocaleString("en")} tokens` : "", money ? `cost ${digits(money, 3)}, by the prices of the model file` : "");
  }
  const facts = [["problem", r.problem], ["policy", r.policy + (r.seed !== "" && r.id ? `, seed ${r.seed}` : "")], ["budget", r.budget], ["ended", r.finished ? r.reason : r.id ? "not yet: it is running, or was killed and can be resumed" : ""],
    ["started", r.started], ["device", r.device], ["toolchain", r.toolchain], ["kernelsearch", r.version]].filter(([, text]) => text);
  const chips = counts.map((count, v) => count ? make("span", null, make("span", {class: "swatch"}), `${count.toLocaleString("en")} ${data.verdicts[v]}`) : null);
  counts.forEach((count, v) => { if (count) chips[v].firstChild.style.background = colour(VERDICT_COLOURS[v]); });
  const settings = best < 0 ? [] : run.tunables.map((tunable, i) => [tunable.name, valueText(best, i)]).filter(([, v]) => v !== "");
  return make("section", {id: "overview", "aria-label": "overview"}, make("h2", null, data.runs.length > 1 ? titleOf(run) : "Overview"),
    run.no_improvement ? make("p", {class: "warn"}, "No improvement: " + run.no_improvement) : null,
    run.totals.loaded ? make("p", {class: "warn"}, `${run.totals.loaded} of ${run.count} trials were measured while others used the core or device: their times are too long and their intervals wide.`) : null,
    make("div", {class: "tiles"}, tiles), make("div", {class: "legend"}, chips),
    make("div", {class: "columns"},
      settings.length ? make("div", null, make("h3", null, "Settings of the best"), rows([], settings.map(([name, value]) => row(name, value)), {class: "facts", label: "settings of the best"})) : null,
      make("div", null, make("h3", null, "Run"), rows([], facts.map(([name, value]) => row(name, value)), {class: "facts", label: "facts of the run"})),
      finalists()),
    make("details", null, make("summary", null, "Summary as text"), make("pre", {tabindex: "0"}, run.summary)));
}

function finalists() {
  const pairs = run.finalists ? run.finalists.pairs : [];
  if (!pairs.length) return null;
  const high = Math.max(1, ...pairs.map((p) => p.speedup[2])), low = Math.min(1, ...pairs.map((p) => p.speedup[1]));
  const pad = .06 * (high - low || .1);
  const label = "Speedups of the finalists with their intervals: " + pairs.map((p) => `trial ${p.candidate} ${speedup(p.speedup)}`).join("; ");
  return make("div", null, make("h3", null, "Finalists, in fresh processes"),
    canvas(label, 36 * pairs.length + 26, (c, width, height) => {
      const box = {left: 2, right: width - 2, top: 2, bottom: height - 22};
      const x = scale(low - pad, high + pad, box.left, box.right, false);
      axes(c, x, {ticks: []}, box, (v) => digits(v, 3) + "x", String);
      c.strokeStyle = colour("--grey");
      c.beginPath(); c.moveTo(x.place(1), box.top); c.lineTo(x.place(1), box.bottom); c.stroke();
      return pairs.map((p, k) => {
        const y = box.top + 26 + 36 * k;
        c.strokeStyle = c.fillStyle = colour(p.speedup[1] > 1 ? "--green" : "--grey");
        c.lineWidth = 3;
        c.beginPath(); c.moveTo(x.place(p.speedup[1]), y); c.lineTo(x.place(p.speedup[2]), y); c.stroke();
        c.beginPath(); c.arc(x.place(p.speedup[0]), y, 4.5, 0, 7); c.fill();
        c.textAlign = "left";
        const text = `trial ${p.candidate} over ${p.opponent === null ? "the default" : "trial " + p.opponent}: ${speedup(p.speedup)}, ${p.speedup[3]} pairs`;
        c.lineWidth = 4;
        c.strokeStyle = colour("--ground");
        c.fillStyle = colour("--text");
        c.strokeText(text, box.left + 4, y - 12);
        c.fillText(text, box.left + 4, y - 12);
        return {x: x.place(p.speedup[0]), y, trial: run.place.get(p.candidate), text};
      });
    }));
}

function bestPart() {
  if (!run.count) return null;
  return part("best", "Best so far",
    make("div", {class: "choices"}, choices("x", "over", axesOf([run]), axisOf([run]), (value) => { state.x = value; render(); }),
      make("span", {class: "soft"}, "line: best so far; marks at the lower edge: failed trials; click a trial to open it")), bestPicture());
}

/// Parts of a whole as one bar with its legend: name, seconds, colour.
function stacked(parts, whole) {
  const stack = make("div", {class: "stack", role: "img", "aria-label": parts.map(([name, s]) => `${name} ${percent(s / whole)}`).join(", ")}, parts.map(([name, s, c]) => {
    const bar = make("div", {title: `${name}: ${duration(s)}`});
    bar.style.width = 100 * s / whole + "%";
    bar.style.background = `var(${c})`;
    return bar;
  }));
  const legend = make("div", {class: "legend"}, parts.map(([name, s, c]) => {
    const swatch = make("span", {class: "swatch"});
    swatch.style.background = `var(${c})`;
    return make("span", null, swatch, `${name} ${duration(s)}, ${percent(s / whole)}`);
  }));
  return [stack, legend];
}
/// What the run waited for: each moment of it counts for one cause, the first in this order that there was.
function causes() {
  if (!run.times) return null;
  const colours = {"finalists": "--pink", "measuring": "--orange", "reference": "--yellow", "waiting for builds": "--blue", "waiting for models": "--sky", "starting": "--green", "other": "--grey"};
  const parts = Object.entries(colours).map(([name, c]) => [name, run.times[name] || 0, c]).filter(([, s]) => s > 0);
  const whole = parts.reduce((sum, [, s]) => sum + s, 0);
  return whole > 0 ? make("figure", {id: "causes"}, make("h3", null, "What it waited for"), make("figcaption", null, "Each moment of the run counts once: as measuring while anything is measured, as waiting where nothing is."), stacked(parts, whole)) : null;
}

function timePart() {
  const totals = run.totals, inside = totals.build + totals.check + totals.measure;
  if (!(inside > 0)) return null;
  const models = run.exchanges.reduce((sum, e) => sum + (e.seconds || 0), 0);
  const whole = Math.max(run.run.seconds, inside);
  const parts = [["build", totals.build, "--blue"], ["check", totals.check, "--green"], ["measure", totals.measure, "--orange"], ["else", whole - inside, "--grey"]];
  return part("time", "Where the time went", stacked(parts, whole), causes(),
    models > 0 ? make("p", {class: "note"}, `Models took ${duration(models)} to reply, all questions together.`) : null,
    whole === inside && run.run.seconds < inside * .98 ? make("p", {class: "note"}, "Several trials were under way at a time, so that their phases add up to more than the wall time.") : null, timeline());
}

// What each kind of work is drawn as: a colour, and the lanes it has where nobody told its place.
const WORK = {
  build: ["--blue", "build"], wait: ["--grey", "queue"], check: ["--green", "lane"], measure: ["--orange", "lane"],
  model: ["--sky", "model"], finalists: ["--pink", "finalists"], compare: ["--yellow", "finalists"],
};
const LANES = ["build", "queue", "", "lane", "model", "finalists"];  // "": the places that were told, by name

/// What was done when, in the order of beginning, as the run wrote it down; of runs without that, each trial's phases up to the moment when it was told.
function bars() {
  const t = run.trials, s = run.spans;
  if (s.work.length > 0) return s.work.map((work, k) => ({work: run.texts[work], place: run.texts[s.place[k]], i: s.trial[k] === null ? undefined : run.place.get(s.trial[k]), from: s.began[k], to: s.ended[k]})).filter((bar) => Object.hasOwn(WORK, bar.work));
  const all = [];
  for (let i = 0; i < run.count; ++i) {
    const phases = [["build", t.build[i]], ["check", t.check[i]], ["measure", t.measure[i]]];
    let from = Math.max(0, t.elapsed[i] - phases.reduce((sum, [, took]) => sum + took, 0));
    for (const [work, took] of phases) if (took > 0) { all.push({work, place: "", i, from, to: from + took, whole: true}); from += took; }
  }
  const most = 20000;
  if (all.length > most) all.sort((a, b) => b.to - b.from - (a.to - a.from)).length = most;
  return all.sort((a, b) => a.from - b.from);
}

/// Where a trial was measured last; empty where nobody told.
function placeOf(i) {
  const s = run.spans, id = run.trials.id[i];
  const k = s.work.findLastIndex((work, k) => s.trial[k] === id && run.texts[work] === "measure");
  return k < 0 ? "" : run.texts[s.place[k]];
}

/// Gives each bar its lane: that of its place, or the first that is free among those of its kind. Returns the names of all.
function intoLanes(all) {
  const free = new Map(), most = {build: 12, lane: 12, model: 6}, laneOfTrial = new Map();
  for (const bar of all) {
    const kind = bar.whole ? "lane" : bar.place && bar.work !== "wait" ? "" : WORK[bar.work][1];
    if (!(kind in most)) { bar.lane = kind === "" ? bar.place : kind; bar.kind = kind; continue; }
    const ends = free.get(kind) || free.set(kind, []).get(kind);
    // The phases of a trial follow each other on one lane.
    let lane = bar.whole && laneOfTrial.has(bar.i) ? laneOfTrial.get(bar.i) : ends.findIndex((end) => end <= bar.from + 1e-3);
    if (lane < 0) lane = ends.length < most[kind] ? ends.push(0) - 1 : ends.indexOf(Math.min(...ends));
    if (bar.whole) {
      laneOfTrial.set(bar.i, lane);
      ends[lane] = Math.max(ends[lane], run.trials.elapsed[bar.i]);
    } else ends[lane] = bar.to;
    bar.lane = `${kind} ${lane + 1}`;
    bar.kind = kind;
  }
  const names = new Map(all.map((bar) => [bar.lane, bar.kind]));
  return [...names.keys()].sort((a, b) => LANES.indexOf(names.get(a)) - LANES.indexOf(names.get(b)) || a.localeCompare(b, "en", {numeric: true}));
}

/// Who did what when: builds, what waits for a device, devices, models and finalists one below the other.
function timeline() {
  const all = bars();
  if (all.length < 2) return null;
  const names = intoLanes(all), lane = new Map(names.map((name, k) => [name, k]));
  const end = Math.max(run.run.seconds, all.reduce((most, bar) => Math.max(most, bar.to), 0));
  const size = names.length > 6 ? 14 : 22;
  // The moments in which nothing was under way, as one lane below the others.
  const waits = [];
  let busy = 0;
  for (const bar of all) {
    if (bar.from > busy + 1e-3) waits.push({from: busy, to: bar.from});
    busy = Math.max(busy, bar.to);
  }
  if (end > busy + 1e-3) waits.push({from: busy, to: end});
  const waited = waits.reduce((sum, wait) => sum + wait.to - wait.from, 0), lanes = names.length + 1;
  const last = new Map();  // the bar with which a trial ended, whichever phase that was
  for (const bar of all) if (bar.i !== undefined && !(last.get(bar.i)?.to > bar.to)) last.set(bar.i, bar);
  const told = run.spans.work.length > 0;
  const words = told ? `What was done when: builds (blue), built candidates that wait for their device (grey), checks (green), measurements (orange), models (light blue), finalists (pink) and their pairs (yellow). The lowest lane is waiting: ${duration(waited)} in which nothing of that was under way, but the search itself.`
    : `Each trial as its phases took, up to the moment when it was told: built (blue), checked (green), measured (orange). The lowest lane is waiting: ${duration(waited)} in which no trial was under way, but models, finalists or the search itself.`;
  return make("figure", {id: "timeline"}, make("h3", null, "Timeline"), make("figcaption", null, words, " A black end: it failed."),
    canvas(`Timeline of ${plural(all.length, "bar")} over ${duration(end)} on ${plural(names.length, "lane")}: ${names.slice(0, 40).join(", ")}; ${duration(waited)} of waiting`, lanes * (size + 4) + 30, (c, width, height) => {
      const shown = names.map((name) => shortValue(name, 18));
      const box = {left: Math.max(62, ...shown.map((name) => c.measureText(name).width + 12)), right: width - 10, top: 2, bottom: height - 22};
      const x = scale(0, end, box.left, box.right, false);
      axes(c, x, {ticks: []}, box, duration, String);
      c.textAlign = "left";
      c.fillStyle = colour("--soft");
      shown.concat("waiting").forEach((name, k) => c.fillText(name, 4, box.top + k * (size + 4) + size / 2 + 4));
      c.fillStyle = colour("--grey");
      const low = box.top + names.length * (size + 4);
      const idle = waits.map((wait) => {
        c.fillRect(x.place(wait.from), low + size / 4, Math.max(x.place(wait.to) - x.place(wait.from), .5), size / 2);
        return {x: x.place((wait.from + wait.to) / 2), y: low + size / 2, text: `waiting for ${duration(wait.to - wait.from)}, from ${duration(wait.from)} to ${duration(wait.to)}`};
      });
      const fills = Object.fromEntries(Object.entries(WORK).map(([work, [name]]) => [work, colour(name)]));
      return idle.concat(all.map((bar) => {
        const y = box.top + lane.get(bar.lane) * (size + 4), a = x.place(bar.from), b = x.place(bar.to), thin = bar.work === "wait" || bar.work === "compare";
        c.fillStyle = fills[bar.work];
        c.fillRect(a, thin ? y + size / 4 : y, Math.max(b - a - (b - a > 3 ? .5 : 0), .5), thin ? size / 2 : size);
        if (last.get(bar.i) === bar && !run.ok[bar.i]) { c.fillStyle = colour("--text"); c.fillRect(b - 1.5, y, 1.5, size); }
        const text = `${bar.work}${bar.place ? ` on ${bar.place}` : ""}: ${seconds(bar.to - bar.from, 3)}, from ${duration(bar.from)}`;
        return {x: (a + b) / 2, y: y + size / 2, trial: bar.i, text: bar.i === undefined ? text : `${text}\n${trialText(bar.i)}`};
      }));
    }));
}

function failurePart() {
  if (!run.failures.length) return null;
  const failed = run.failures.reduce((sum, g) => sum + g.count, 0);
  return part("failures", "Why trials failed", make("p", {class: "note"}, `${plural(failed, "trial")} failed for ${plural(run.failures.length, "reason")}; numbers apart.`),
    rows([num("trials"), "verdict", "reason of the first", "first"], run.failures.slice(0, 100).map((g) =>
      row(num(g.count.toLocaleString("en")), g.verdict, make("span", {class: "text"}, g.reason || "no reason was given"), trialLink(g.trial))), {label: "reasons of failure"}));
}

// ---- tunables ----

function importance() {
  const known = run.varied.filter((tunable) => tunable.importance !== null);
  if (!known.length)
    return run.explained === null || !run.varied.length ? null : make("p", {class: "note"}, `A random forest explains ${percent(Math.max(0, run.explained))} of the variance of the times at trials that it never saw: too little to say which tunables matter.`);
  const most = Math.max(...known.map((tunable) => tunable.importance), 1e-9);
  return make("figure", null, make("figcaption", null, `Importance: what a random forest's error grows by when a tunable's values are shuffled. It explains ${percent(run.explained)} of the variance of the logarithm of the time at trials that it never saw.`),
    make("div", {class: "bars"}, known.map((tunable) => {
      const fill = make("div", {class: "fill"});
      fill.style.width = 100 * tunable.importance / most + "%";
      return [make("span", null, tunable.name), make("div", {class: "track"}, fill), make("span", null, percent(tunable.importance))];
    })));
}

/// The trials to draw where all would take too long and hide each other: the fastest, and of the rest evenly many.
function drawn(most) {
  if (run.right.length <= most) return run.right;
  const some = new Set(run.fastest.slice(0, most / 4));
  for (let k = 0; k < most * 3 / 4; ++k) some.add(run.right[Math.floor(k * run.right.length / (most * 3 / 4))]);
  return [...some].sort((a, b) => a - b);
}
const jitter = (i) => ((i * 2654435761) % 1000) / 1000 - .5;

function slices() {
  const shown = run.varied.slice(0, 16), t = run.trials, some = drawn(4000);
  if (!shown.length || run.right.length < 2) return null;
  const [low, high] = bounds(run.right.map((i) => t.seconds[i]));
  return make("figure", null, make("h3", null, "Slices"), make("figcaption", null, "Time of each right trial against the value of one tunable; the line is the best at each value." + (some.length < run.right.length ? ` Drawn are ${some.length.toLocaleString("en")} of ${run.right.length.toLocaleString("en")}, the fastest among them.` : "") + (run.varied.length > 16 ? ` The ${shown.length} most important of ${run.varied.length}.` : "")),
    make("div", {class: "small"}, shown.map((tunable) => {
      const best = tunable.values.map(() => Infinity);
      for (const i of run.right) { const v = t.values[i][tunable.i]; if (v >= 0) best[v] = Math.min(best[v], t.seconds[i]); }
      const fastest = best.indexOf(Math.min(...best));
      return make("div", null, make("div", null, tunable.name), canvas(`${tunable.name}: fastest at ${tunable.values[fastest]} with ${seconds(best[fastest])}`, 150, (c, width, height) => {
        const box = {left: 58, right: width - 8, top: 6, bottom: height - 20}, n = tunable.values.length;
        const y = scale(low, high, box.bottom - 4, box.top + 4, true);
        const gap = (box.right - box.left) / n, x = {ticks: tunable.values.map((_, v) => v), place: (v) => box.left + gap * (v + .5)};
        axes(c, x, {...y, ticks: y.ticks.filter((_, k) => y.ticks.length < 6 || k % 2 === 0)}, box, (v) => shortValue(tunable.values[v], 12), (v) => seconds(v, 2));
        c.fillStyle = colour("--point");
        c.globalAlpha = some.length > 500 ? .3 : .6;
        const places = [];
        for (const i of some) {
          const v = t.values[i][tunable.i];
          if (v < 0) continue;
          const px = x.place(v) + jitter(i) * gap * .5, py = y.place(t.seconds[i]);
          c.fillRect(px - 1.5, py - 1.5, 3, 3);
          places.push({x: px, y: py, trial: i});
        }
        c.globalAlpha = 1;
        c.strokeStyle = colour("--focus");
        c.lineWidth = 1.5;
        c.beginPath();
        best.forEach((s, v) => { if (isFinite(s)) c.lineTo(x.place(v), y.place(s)); });
        c.stroke();
        return places;
      }));
    })));
}

/// From the fastest to the slowest, in colours that those can tell apart who see few.
function heat(part) {
  const stops = [[253, 231, 37], [94, 201, 98], [33, 145, 140], [59, 82, 139], [68, 1, 84]];  // viridis, the fastest brightest
  const at = Math.min(.9999, Math.max(0, part)) * 4, k = Math.floor(at), f = at - k;
  return `rgb(${stops[k].map((v, d) => Math.round(v + (stops[k + 1][d] - v) * f)).join(",")})`;
}

function map() {
  if (run.varied.length < 2 || run.right.length < 4) return null;
  const names = run.varied.map((tunable) => [tunable.i, tunable.name]);
  const known = (i) => run.varied.find((tunable) => String(tunable.i) === String(i));
  const a = known(state.mapX) || run.varied[0], b = known(state.mapY) || run.varied[1];
  const t = run.trials, cells = new Map();
  for (const i of run.right) {
    const va = t.values[i][a.i], vb = t.values[i][b.i];
    if (va < 0 || vb < 0) continue;
    const key = va * 100000 + vb, cell = cells.get(key);
    if (!cell) cells.set(key, {va, vb, n: 1, i});
    else { ++cell.n; if (t.seconds[i] < t.seconds[cell.i]) cell.i = i; }
  }
  const [low, high] = bounds([...cells.values()].map((cell) => t.seconds[cell.i]));
  const span = Math.log(high / low) || 1;
  const tall = Math.max(120, Math.min(420, 26 * b.values.length + 46));
  return make("figure", null, make("h3", null, "Map of two tunables"),
    make("div", {class: "choices"}, select("map-x", "across", names, a.i, (v) => { state.mapX = v; render(); }), select("map-y", "upwards", names, b.i, (v) => { state.mapY = v; render(); }),
      make("span", {class: "soft"}, `best time of each pair of values: bright ${seconds(low, 3)}, dark ${seconds(high, 3)}`)),
    canvas(`Best time for each pair of values of ${a.name} and ${b.name}, from ${seconds(low)} to ${seconds(high)}`, tall, (c, width, height) => {
      c.textAlign = "right";
      const left = Math.min(130, 16 + Math.max(...b.values.map((v) => c.measureText(shortValue(v, 18)).width)));
      const box = {left, right: width - 8, top: 4, bottom: height - 38}, dx = (box.right - box.left) / a.values.length, dy = (box.bottom - box.top) / b.values.length;
      c.fillStyle = colour("--soft");
      const every = Math.ceil(13 / dy);
      b.values.forEach((v, k) => { if (k % every === 0) c.fillText(shortValue(v, 18), left - 6, box.bottom - dy * (k + .5) + 4); });
      c.textAlign = "center";
      let last = -1e9;
      a.values.forEach((v, k) => {
        const x = box.left + dx * (k + .5), half = c.measureText(shortValue(v, 12)).width / 2;
        if (x - half > last + 6) { c.fillText(shortValue(v, 12), x, box.bottom + 15); last = x + half; }
      });
      c.fillText(`${a.name} across, ${b.name} upwards`, (box.left + box.right) / 2, box.bottom + 31);
      return [...cells.values()].map((cell) => {
        const x = box.left + dx * cell.va, y = box.bottom - dy * (cell.vb + 1), part = Math.log(t.seconds[cell.i] / low) / span;
        c.fillStyle = heat(part);
        c.fillRect(x + .5, y + .5, Math.max(dx - 1, .5), Math.max(dy - 1, .5));
        const text = seconds(t.seconds[cell.i], 3);
        if (dx > c.measureText(text).width + 8 && dy > 15) { c.fillStyle = part < .45 ? "#000" : "#fff"; c.fillText(text, x + dx / 2, y + dy / 2 + 4); }
        return {x: x + dx / 2, y: y + dy / 2, trial: cell.i, text: `${a.name}=${a.values[cell.va]} ${b.name}=${b.values[cell.vb]}: best ${text} of ${plural(cell.n, "trial")}\n${trialText(cell.i)}`};
      });
    }));
}

const brushed = (i) => run.ok[i] && Object.entries(state.brush).every(([axis, [low, high]]) => {
  const value = axis === "time" ? run.rankOfTime(i) : run.trials.values[i][axis];
  return value >= low && value <= high;
});

function parallel() {
  const t = run.trials;
  if (run.varied.length < 2 || run.right.length < 2) return null;
  const shown = run.varied.slice(0, 14);
  const [low, high] = bounds(run.right.map((i) => t.seconds[i]));
  const span = Math.log(high / low) || 1;
  run.rankOfTime = (i) => Math.log(t.seconds[i] / low) / span;
  const ids = shown.map((tunable) => String(tunable.i)).concat("time");
  const top = (axis) => axis === "time" ? 1 : run.tunables[axis].values.length - 1;
  const some = drawn(4000);
  let focus = 0, drag = null, box = null;
  const xOf = (k) => box.left + (box.right - box.left) * k / (ids.length - 1);
  const part = (axis, value) => axis === "time" ? value : (value + .5) / (top(axis) + 1);
  const yOf = (axis, value) => box.bottom - part(axis, value) * (box.bottom - box.top);
  const unit = (axis, y) => {
    const p = Math.min(1, Math.max(0, (box.bottom - y) / (box.bottom - box.top)));
    return axis === "time" ? p : p * (top(axis) + 1) - .5;
  };
  const told = make("span", {id: "brushed", role: "status"});
  const tell = () => {
    const keys = Object.keys(state.brush);
    told.textContent = keys.length ? `${plural(run.right.filter(brushed).length, "trial")} of ${run.right.length} within the brush` : "";
    clear.hidden = !keys.length;
  };
  const clear = make("button", {id: "unbrush", onclick: () => { state.brush = {}; changed(); }}, "Remove the brush");
  const changed = () => { tell(); redraw(); trialsChanged(); };
  const node = canvas(`Parallel coordinates of ${plural(some.length, "trial")} over ${shown.map((tunable) => tunable.name).join(", ")} and the time. Left and right choose an axis, up and down its upper limit, with shift its lower one, escape removes the brush.`, 340, (c, width, height) => {
    box = {left: 30, right: width - 56, top: 34, bottom: height - 12};
    const active = Object.keys(state.brush).length > 0;
    const order = some.slice().sort((a, b) => t.seconds[b] - t.seconds[a]);
    c.lineWidth = some.length > 600 ? .6 : 1;
    const soft = colour("--grid");
    for (const pass of [0, 1]) for (const i of order) {
      const inside = !active || brushed(i);
      if (inside !== (pass === 1)) continue;
      c.strokeStyle = inside ? heat(run.rankOfTime(i) * .85 + .08) : soft;
      c.globalAlpha = inside ? (some.length > 600 ? .35 : .75) : .5;
      c.beginPath();
      ids.forEach((axis, k) => {
        const v = axis === "time" ? run.rankOfTime(i) : t.values[i][axis];
        if (v >= 0) c.lineTo(xOf(k), yOf(axis, v) + (axis === "time" ? 0 : jitter(i + k) * Math.min(8, .5 * (box.bottom - box.top) / (top(axis) + 1))));
      });
      c.stroke();
    }
    c.globalAlpha = 1;
    ids.forEach((axis, k) => {
      const x = xOf(k);
      c.strokeStyle = colour(document.activeElement === node && focus === k ? "--focus" : "--grey");
      c.lineWidth = 1.5;
      c.beginPath(); c.moveTo(x, box.top); c.lineTo(x, box.bottom); c.stroke();
      c.fillStyle = colour("--text");
      c.textAlign = k === 0 ? "left" : "center";
      const name = axis === "time" ? "time" : run.tunables[axis].name;
      const room = (box.right - box.left) / (ids.length - 1) - 8;
      let cut = name;
      while (cut.length > 3 && c.measureText(cut).width > room) cut = cut.slice(0, -1);
      c.fillText(cut, k === 0 ? x - 24 : x, k % 2 && room < 60 ? 12 : 24);
      c.font = "10.5px system-ui, 'DejaVu Sans', sans-serif";
      c.textAlign = "left";
      const values = axis === "time" ? [[0, seconds(low, 3)], [.5, seconds(low * Math.exp(span / 2), 3)], [1, seconds(high, 3)]]
        : run.tunables[axis].values.map((v, n) => [n, shortValue(v, 9)]);
      const every = Math.ceil(values.length / ((box.bottom - box.top) / 14));
      values.forEach(([v, text], n) => {
        if (n % every) return;
        const y = yOf(axis, v) + 3.5;
        c.lineWidth = 3;
        c.strokeStyle = colour("--ground");
        c.strokeText(text, x + 4, y);
        c.fillText(text, x + 4, y);
      });
      c.font = "11.5px system-ui, 'DejaVu Sans', sans-serif";
      if (state.brush[axis]) {
        const [a, b] = state.brush[axis];
        c.fillStyle = colour("--focus");
        c.globalAlpha = .3;
        const y1 = box.bottom - Math.min(1, part(axis, b)) * (box.bottom - box.top), y0 = box.bottom - Math.max(0, part(axis, a)) * (box.bottom - box.top);
        c.fillRect(x - 8, y1 - 2, 16, y0 - y1 + 4);
        c.globalAlpha = 1;
      }
    });
    return [];
  }, {at: () => null, keys: (event) => {
    const axis = ids[focus], most = top(axis), step = axis === "time" ? .05 : 1;
    const now = state.brush[axis] || [0, most];
    if (event.key === "ArrowRight") focus = Math.min(ids.length - 1, focus + 1);
    else if (event.key === "ArrowLeft") focus = Math.max(0, focus - 1);
    else if (event.key === "ArrowUp" || event.key === "ArrowDown") {
      const by = event.key === "ArrowUp" ? step : -step;
      state.brush[axis] = event.shiftKey ? [Math.min(now[1], Math.max(0, now[0] + by)), now[1]] : [now[0], Math.max(now[0], Math.min(most, now[1] + by))];
    } else if (event.key === "Escape") state.brush = {};
    else return;
    event.preventDefault();
    event.stopPropagation();
    changed();
    say(`${axis === "time" ? "time" : run.tunables[axis].name}: ${told.textContent}`);
  }});
  const redraw = () => { for (const plot of plots) if (plot.node === node) plot.redraw(); };
  const nearest = (x) => { let best = 0; ids.forEach((_, k) => { if (Math.abs(xOf(k) - x) < Math.abs(xOf(best) - x)) best = k; }); return best; };
  const place = (event) => { const r = node.getBoundingClientRect(); return [event.clientX - r.left, event.clientY - r.top]; };
  node.addEventListener("pointerdown", (event) => {
    const [x, y] = place(event);
    focus = nearest(x);
    drag = {axis: ids[focus], from: unit(ids[focus], y), moved: false};
    node.setPointerCapture(event.pointerId);
  });
  node.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const to = unit(drag.axis, place(event)[1]);
    drag.moved = drag.moved || Math.abs(to - drag.from) > .02;
    if (drag.moved) { state.brush[drag.axis] = [Math.min(drag.from, to), Math.max(drag.from, to)]; changed(); }
  });
  node.addEventListener("pointerup", () => {
    if (drag && !drag.moved) { delete state.brush[drag.axis]; changed(); }
    drag = null;
  });
  node.addEventListener("focus", redraw);
  node.addEventListener("blur", redraw);
  tell();
  return make("figure", null, make("h3", null, "Parallel coordinates"), make("figcaption", null,
    "A line is a right trial, bright where it is fast. Drag along an axis to keep what passes there; the table of trials follows." + (some.length < run.right.length ? ` Drawn are ${some.length.toLocaleString("en")} of ${run.right.length.toLocaleString("en")}, the fastest among them; the brush counts all.` : "")),
    node, make("div", {class: "choices"}, told, clear));
}

function tunablePart() {
  const parts = [importance(), slices(), map(), parallel()].filter(Boolean);
  return parts.length ? part("tunables", "Tunables", parts) : null;
}

// ---- kernels ----

function strategyPart() {
  if (!run.strategies.length) return null;
  return part("strategies", "Strategies", rows(["strategy", num("tries"), num("right"), num("surely faster"), num("median over the parent"), num("best")], run.strategies.map((s) =>
    row(s.name, num(s.tries), num(s.right), num(s.faster), num(s.median === null ? "" : s.median.toFixed(2) + "x"), num(s.best === null ? "" : s.best.toFixed(2) + "x"))), {label: "strategies"}));
}

function treePart() {
  if (!run.moves) return null;
  const t = run.trials, most = 1500;
  let shown = [...Array(run.count).keys()];
  if (shown.length > most) {
    const keep = new Set();
    for (const i of run.fastest) for (let at = i; at !== undefined && keep.size < most && !keep.has(at); at = run.place.get(t.parents[at][0])) keep.add(at);
    shown = shown.filter((i) => keep.has(i));
  }
  const inside = new Set(shown), children = new Map(), roots = [];
  for (const i of shown) {
    const parent = run.place.get(t.parents[i][0]);
    if (parent === undefined || parent === i || !inside.has(parent) || parent > i) roots.push(i);
    else { if (!children.has(parent)) children.set(parent, []); children.get(parent).push(i); }
  }
  const path = new Set();
  for (let at = run.best; at >= 0 && at !== undefined && !path.has(at); at = run.place.get(t.parents[at][0])) path.add(at);
  const places = new Map(), W = 150, H = 38, DX = 262, DY = 52;
  let leaves = 0, deepest = 0;
  const work = roots.slice().reverse().map((i) => ({i, depth: 0, done: false}));
  while (work.length) {  // no recursion: a chain of rewrites may be long
    const item = work.pop(), below = children.get(item.i) || [];
    deepest = Math.max(deepest, item.depth);
    if (!below.length) places.set(item.i, {x: item.depth * DX, y: leaves++ * DY});
    else if (item.done) places.set(item.i, {x: item.depth * DX, y: (places.get(below[0]).y + places.get(below[below.length - 1]).y) / 2});
    else {
      work.push({...item, done: true});
      for (const child of below.slice().reverse()) work.push({i: child, depth: item.depth + 1, done: false});
    }
  }
  const edges = [], labels = [], nodes = [];
  const cut = (text, n) => text.length > n ? text.slice(0, n - 1) + "…" : text;
  for (const i of shown) {
    const at = places.get(i);
    t.parents[i].forEach((id, k) => {
      const parent = run.place.get(id), from = places.get(parent);
      if (!from || parent === i) return;
      const x1 = from.x + W, y1 = from.y + H / 2, x2 = at.x, y2 = at.y + H / 2, bend = Math.max(20, (x2 - x1) / 2);
      edges.push(draw("path", {class: k ? "other" : path.has(i) && path.has(parent) ? "best" : null, d: `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`}));
      if (!k && moveText(i)) labels.push(draw("text", {class: "label", x: x2 - 6, y: y2 - 5, "text-anchor": "end"}, cut(moveText(i), 17)));
    });
    const first = `#${t.id[i]}  ${run.ok[i] ? seconds(t.seconds[i]) : verdictName(i)}`;
    const label = [`trial ${t.id[i]}`, run.ok[i] ? seconds(t.seconds[i]) : verdictName(i), moveText(i), ratioText(i)].filter(Boolean).join(", ");
    const open = () => openTrial(i);
    nodes.push(draw("g", {class: ["node", run.ok[i] ? "" : "failed", path.has(i) ? "best" : "", state.open === t.id[i] ? "chosen" : ""].filter(Boolean).join(" "), tabindex: "0", role: "button", "aria-label": label,
      "data-trial": t.id[i], transform: `translate(${at.x} ${at.y})`, onclick: open, onkeydown: (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); open(); } }},
      draw("title", null, label), draw("rect", {width: W, height: H, rx: 5}), draw("text", {x: 8, y: 16}, cut(first, 22)),
      draw("text", {class: "label", x: 8, y: 31}, cut(ratioText(i) || (run.ok[i] ? "" : run.texts[t.reason[i]]) || moveText(i), 24))));
  }
  const width = deepest * DX + W + 4, height = Math.max(1, leaves) * DY + 4;
  return part("kernels", "Tree of kernels", make("p", {class: "note"}, `From parents on the left to what was made of them; the green path leads to the best. A click shows code, differences${run.exchanges.length ? ", question and reply" : ""}.` + (shown.length < run.count ? ` ${shown.length} of ${run.count} trials: the fastest with what they come from.` : "")),
    make("div", {class: "tree", tabindex: "0", role: "region", "aria-label": "tree of kernels"}, draw("svg", {width, height, viewBox: `-2 -2 ${width} ${height}`, role: "group", "aria-label": "tree of kernels"}, edges, nodes, labels)));
}

/// Which way an objective is better, and whether only the kernel says its value.
function betterText(goal) {
  return `${goal.better} is better${goal.unchecked ? ", as the kernel says" : ""}`;
}

/// The trials that no other one beats in all objectives: the first two objectives against each other, and all values.
function paretoPart() {
  if (!run.front) return null;
  const goals = run.front.objectives, t = run.trials, text = (k, value) => goals[k].name === "time" ? seconds(value) : digits(value, 4);
  const front = run.front.trials.filter((one) => run.place.has(one.trial));
  const named = goals.map((goal) => `${goal.name}${goal.formula === goal.name ? "" : " = " + goal.formula} (${betterText(goal)})`).join(", ");
  if (!front.length) return part("front", "Objectives", make("p", {class: "note"}, `This run went by ${named}; no trial was right.`));
  const table = rows(["", ...goals.map((goal) => num(goal.name)), "settings"], front.map((one) =>
    row(trialLink(one.trial), ...one.values.map((value, k) => num(text(k, value))), settingsText(run.place.get(one.trial)))), {label: "Pareto front"});
  if (goals.length < 2) return part("front", "Objective", make("p", {class: "note"}, `This run went by ${named}.`), table);
  const value = (i, k) => { const detail = run.details[t.id[i]]; return detail ? detail.features["objective." + goals[k].name] : undefined; };
  const others = run.right.filter((i) => value(i, 0) > 0 && value(i, 1) > 0), on = new Set(front.map((one) => one.trial));
  const all = [...others.map((i) => [value(i, 0), value(i, 1), i]), ...front.map((one) => [one.values[0], one.values[1], run.place.get(one.trial)])];
  const picture = canvas(`The Pareto front: ${front.map((one) => `trial ${one.trial}: ${one.values.map((v, k) => goals[k].name + " " + text(k, v)).join(", ")}`).join("; ")}`, 280, (c, width, height) => {
    const box = {left: 76, right: width - 14, top: 12, bottom: height - 42};
    const ends = (k) => [Math.min(...all.map((one) => one[k])), Math.max(...all.map((one) => one[k]))];
    const x = scale(...ends(0), box.left, box.right, true), y = scale(...ends(1), box.bottom, box.top, true);
    axes(c, x, y, box, (v) => text(0, v), (v) => text(1, v), `${goals[0].name} (${betterText(goals[0])}), upwards ${goals[1].name} (${betterText(goals[1])})`);
    return all.map(([a, b, i]) => {
      const place = {x: x.place(a), y: y.place(b), trial: i}, best = on.has(t.id[i]);
      c.fillStyle = colour(best ? "--green" : "--grey");
      c.beginPath(); c.arc(place.x, place.y, best ? 5 : 3, 0, 7); c.fill();
      return place;
    });
  });
  return part("front", "Pareto front", make("p", {class: "note"}, `This run went by ${named}. ${plural(front.length, "trial")} that no other one beats in all of them (green); the winner is the one whose weighted geometric mean is the lowest.`), picture, table);
}

/// The right kernels that nothing was made of yet: where the search could go on.
function frontierPart() {
  if (!run.moves) return null;
  const t = run.trials, parents = new Set(t.parents.flat());
  const open = run.fastest.filter((i) => !parents.has(t.id[i]) && i !== run.best);
  if (!open.length) return null;
  const best = run.best >= 0 ? t.seconds[run.best] : null;
  return part("frontier", "Frontier", make("p", {class: "note"}, `${plural(open.length, "right kernel")} besides the best that nothing was made of${open.length > 20 ? "; the fastest 20" : ""}.`),
    rows([num("kernel"), num("time"), num("behind the best"), "strategy", "against the parent"], open.slice(0, 20).map((i) =>
      row(num(trialLink(t.id[i])), num(seconds(t.seconds[i])), num(best ? percent(t.seconds[i] / best - 1) : ""), moveText(i), ratioText(i))), {label: "frontier"}));
}

function checkpointPart() {
  if (!run.checkpoints.length) return null;
  const t = run.trials, time = (one) => { const i = run.place.get(one.trial); return i !== undefined && run.ok[i] ? t.seconds[i] : null; };
  const first = time(run.checkpoints[0]);
  return part("checkpoints", "Checkpoints", make("p", {class: "note"}, "Validated steps that the run can go back to; a click on a trial shows its code and what differs."),
    rows(["checkpoint", num("trial"), "from", "by", num("time"), num("over the first"), "branches that end here", "note"], run.checkpoints.map((one) => {
      const s = time(one), tips = one.tips.join(", ");
      return make("tr", {class: one.current ? "winner" : null}, [one.name + (one.closed ? " (closed)" : ""), num(trialLink(one.trial, String(one.trial))), one.parent, one.transformation, num(s === null ? "" : seconds(s)),
        num(s && first ? (first / s).toFixed(2) + "x" : ""), tips + (one.current ? (tips ? ", " : "") + "it goes on from here" : "")].map((cell) => make("td", {class: cell && cell.n !== undefined ? "n" : null}, cell && cell.n !== undefined ? cell.n : cell)), make("td", {class: "note"}, one.note));
    }), {label: "checkpoints"}));
}

function memoryPart() {
  if (!run.memory.length) return null;
  return part("memory", "Memory that it had", make("p", {class: "note"}, `What earlier runs of this problem had taught when it began, the newest first; its prompts show what fits (\`kernelsearch memory show NUMBER\` has the change itself).`),
    rows([num("change"), "strategies", "effect", "limited by", "device", "at"], run.memory.map((one) => row(num(String(one.number)), one.strategies.join(", ") || "its own choice",
      one.effect ? `${one.effect[0].toFixed(2)}x (${one.effect[1].toFixed(2)} to ${one.effect[2].toFixed(2)})` : one.verdict, one.limiter, one.device, one.at.slice(0, 19).replace("T", " "))), {label: "memory"}));
}

function rooflinePart() {
  const points = [];
  for (const i of run.right) {
    const f = run.details[run.trials.id[i]]?.features;
    if (f && f.intensity > 0 && f.operations_per_second > 0) points.push({i, x: f.intensity, y: f.operations_per_second});
  }
  if (!points.length) return null;
  const peaks = run.peaks, roofs = [], slopes = peaks ? peaks.levels : [];
  if (peaks) for (const [name, key] of [["16-bit", "f16"], ["single precision", "f32"], ["double precision", "f64"]]) if (peaks[key]) roofs.push([name, peaks[key]]);
  roofs.sort((a, b) => b[1] - a[1]);
  const best = points.find((p) => p.i === run.best) || points[0];
  return part("roofline", "Roofline", make("p", {class: "note"}, `${plural(points.length, "right kernel")}` + (peaks ? ` under the peaks of ${peaks.device || "the device"}${peaks.source ? " (" + peaks.source + ")" : ""}.` : "; the peaks of the device are not known to this run.")),
    canvas(`Roofline: ${plural(points.length, "kernel")}, the best at ${digits(best.x, 3)} operations per byte and ${engineering(best.y)}operations per second`, 420, (c, width, height) => {
      const box = {left: 72, right: width - 16, top: 14, bottom: height - 46};
      const ridge = [];
      for (const [, rate] of roofs) for (const [, bandwidth] of slopes) ridge.push(rate / bandwidth);
      let [xl, xh] = bounds(points.map((p) => p.x).concat(ridge));
      let [yl, yh] = bounds(points.map((p) => p.y).concat(roofs.map((r) => r[1] * 1.6)));
      xl /= 3; xh *= 4;
      if (slopes.length) yl = Math.min(yl, xl * Math.min(...slopes.map((s) => s[1])));
      const x = scale(xl, xh, box.left, box.right, true), y = scale(yl / 1.5, yh * 1.3, box.bottom, box.top, true);
      axes(c, x, y, box, (v) => digits(v, 1), (v) => engineering(v, 1), "operations per byte of memory traffic");
      const high = roofs.length ? roofs[0][1] : y.high, steep = slopes.length ? Math.max(...slopes.map((s) => s[1])) : 0;
      c.save();
      c.beginPath(); c.rect(box.left, box.top, box.right - box.left, box.bottom - box.top); c.clip();
      c.lineWidth = 1.6;
      c.strokeStyle = colour("--grey");
      c.fillStyle = colour("--text");
      for (const [name, bandwidth] of slopes) {
        const to = Math.min(xh, high / bandwidth);
        c.beginPath(); c.moveTo(x.place(xl), y.place(xl * bandwidth)); c.lineTo(x.place(to), y.place(to * bandwidth)); c.stroke();
        c.save();
        const start = Math.max(xl, y.low / bandwidth) * 1.3;
        c.translate(x.place(start), y.place(start * bandwidth));
        c.rotate(Math.atan2(y.place(to * bandwidth) - y.place(xl * bandwidth), x.place(to) - x.place(xl)));
        c.textAlign = "left";
        c.fillText(`${name} ${engineering(bandwidth)}B/s`, 0, -5);
        c.restore();
      }
      c.setLineDash([7, 3]);
      for (const [name, rate] of roofs) {
        const from = steep ? Math.max(xl, rate / steep) : xl;
        c.beginPath(); c.moveTo(x.place(from), y.place(rate)); c.lineTo(x.place(xh), y.place(rate)); c.stroke();
        c.textAlign = "right";
        c.fillText(`${name} ${engineering(rate)}op/s`, box.right - 4, y.place(rate) - 5);
      }
      c.setLineDash([]);
      c.restore();
      c.fillStyle = colour("--point");
      c.globalAlpha = .75;
      const places = points.map((p) => ({x: x.place(p.x), y: y.place(p.y), trial: p.i, text: `${engineering(p.y)}op/s at ${digits(p.x, 3)} operations per byte\n${trialText(p.i)}`}));
      for (const p of places) { c.beginPath(); c.arc(p.x, p.y, 3.5, 0, 7); c.fill(); }
      c.globalAlpha = 1;
      const winner = places.find((p) => p.trial === run.best);
      if (winner) {
        c.fillStyle = c.strokeStyle = colour("--focus");
        c.beginPath(); c.arc(winner.x, winner.y, 5, 0, 7); c.fill();
        c.lineWidth = 1.5;
        c.beginPath(); c.arc(winner.x, winner.y, 9, 0, 7); c.stroke();
        c.fillStyle = colour("--text");
        c.textAlign = "left";
        c.fillText(`trial ${run.trials.id[run.best]}`, winner.x + 13, winner.y + 4);
      }
      return places;
    }));
}

function shapeRows(shapes) {
  const right = shapes.some((s) => s.speedup);
  return rows(["shape", num("median"), num("interval"), num("spread")].concat(right ? [num("speedup")] : [], ["ended"]), shapes.map((s) =>
    row(s.shape, num(seconds(s.median)), num(`${seconds(s.interval[0])} to ${seconds(s.interval[1])}`), num(percent(s.spread || 0)), ...(right ? [num(speedup(s.speedup))] : []), s.ended)), {label: "shapes"});
}
function shapePart() {
  const detail = run.best >= 0 ? run.details[run.trials.id[run.best]] : null;
  if (!detail || detail.shapes.length < 2) return null;
  return part("shapes", "Shapes of the best", shapeRows(detail.shapes));
}

// ---- the table of trials ----

let trialsChanged = () => {};
const PAGE = 50;
function trialsPart() {
  if (!run.count) return null;
  const t = run.trials, shown = run.varied.slice(0, 8);
  const keys = {trial: (i) => t.id[i], verdict: (i) => t.verdict[i], time: (i) => run.ok[i] ? t.seconds[i] : Infinity, speedup: (i) => t.speedup[i] ? -t.speedup[i][0] : 0, score: (i) => -(t.score && t.score[i] || 0), load: (i) => -t.load[i]};
  for (const tunable of shown) keys["v" + tunable.i] = (i) => t.values[i][tunable.i];
  const body = make("tbody"), count = make("span", {id: "trial-count", role: "status"}), where = make("span");
  const move = (by) => { state.at += by; fill(); };
  const back = make("button", {id: "page-back", onclick: () => move(-1)}, "Previous"), on = make("button", {id: "page-on", onclick: () => move(1)}, "Next");
  const heads = make("tr");
  const loads = t.load.some((l) => l > .1), speedups = t.speedup.some(Boolean);
  const columns = [["trial", "trial", true], ["verdict", "verdict"], ["time", "time", true], speedups ? ["speedup", "speedup", true] : null, t.score ? ["score", "score S", true] : null, run.moves ? ["", "move"] : null, ...shown.map((tunable) => ["v" + tunable.i, tunable.name]), loads ? ["load", "load", true] : null, ["", "reason"]].filter(Boolean);
  const cells = (i) => [make("td", {class: "n"}, trialLink(t.id[i], String(t.id[i]))), make("td", null, verdictName(i)), make("td", {class: "n", title: run.ok[i] ? `${seconds(t.low[i])} to ${seconds(t.high[i])}` : null}, run.ok[i] ? seconds(t.seconds[i]) : ""),
    speedups ? make("td", {class: "n"}, speedup(t.speedup[i])) : null, t.score ? make("td", {class: "n"}, scoreText(t.score[i])) : null, run.moves ? make("td", null, moveText(i)) : null, shown.map((tunable) => make("td", null, valueText(i, tunable.i))),
    loads ? make("td", {class: "n"}, t.load[i] > .1 ? percent(t.load[i]) : "") : null, make("td", {class: "text"}, run.texts[t.reason[i]])];
  function fill() {
    const words = state.filter.toLowerCase().split(/\s+/).filter(Boolean), active = Object.keys(state.brush).length > 0;
    const chosen = [];
    for (let i = 0; i < run.count; ++i) {
      if (state.verdict !== "" && String(t.verdict[i]) !== state.verdict) continue;
      if (active && !brushed(i)) continue;
      if (words.length) {
        const text = `${t.id[i]} ${verdictName(i)} ${moveText(i)} ${settingsText(i)} ${run.texts[t.reason[i]]}`.toLowerCase();
        if (!words.every((word) => text.includes(word))) continue;
      }
      chosen.push(i);
    }
    const key = keys[state.sort] || keys.trial, sign = state.down ? -1 : 1;
    chosen.sort((a, b) => { const x = key(a), y = key(b); return x < y ? -sign : x > y ? sign : a - b; });
    const pages = Math.max(1, Math.ceil(chosen.length / PAGE));
    state.at = Math.max(0, Math.min(state.at, pages - 1));
    body.replaceChildren(...chosen.slice(state.at * PAGE, state.at * PAGE + PAGE).map((i) => make("tr", {class: "open" + (i === run.best ? " winner" : ""), onclick: () => openTrial(i)}, cells(i))));
    count.textContent = chosen.length === run.count ? plural(run.count, "trial") : `${chosen.length.toLocaleString("en")} of ${plural(run.count, "trial")}`;
    where.textContent = `page ${state.at + 1} of ${pages}`;
    back.disabled = state.at === 0;
    on.disabled = state.at >= pages - 1;
    heads.replaceChildren(...columns.map(([id, name, right]) => make("th", {scope: "col", class: right ? "n" : null, "aria-sort": id && state.sort === id ? (state.down ? "descending" : "ascending") : null},
      id ? make("button", {id: "sort-" + id, onclick: () => { state.down = state.sort === id ? !state.down : false; state.sort = id; fill(); document.getElementById("sort-" + id)?.focus(); }}, name + (state.sort === id ? (state.down ? " ▾" : " ▴") : "")) : name)));
  }
  trialsChanged = () => { state.at = 0; fill(); };
  fill();
  const verdicts = [["", "all"], ...data.verdicts.map((name, v) => [String(v), name]).filter(([v]) => run.totals.verdicts[v])];
  return part("trials", "Trials", make("div", {class: "choices"},
    make("label", null, "search", make("input", {type: "search", id: "search", value: state.filter, oninput: (e) => { state.filter = e.target.value; trialsChanged(); }})),
    verdicts.length > 2 ? select("verdict", "verdict", verdicts, state.verdict, (v) => { state.verdict = v; trialsChanged(); }) : null, count),
    make("div", {class: "wide", tabindex: "0", role: "region", "aria-label": "trials"}, make("table", null, make("thead", null, heads), body)),
    make("div", {class: "choices pager"}, back, where, on));
}

function exchangePart() {
  if (!run.exchanges.length) return null;
  const body = make("div");
  let shown = 0;
  const more = make("button", {onclick: () => fill()}, "Show more");
  function fill() {
    for (const exchange of run.exchanges.slice(shown, shown + 50)) {
      const d = make("details", null, make("summary", null, `${exchange.role || "question"} to ${exchange.model || "a model"}: ` + (exchange.error ? "no reply" : plural(exchange.reply.length, "character")) +
        (exchange.trials.length ? `, trial ${exchange.trials.join(", ")}` : "") + (exchange.input + exchange.output ? `, ${(exchange.input + exchange.output).toLocaleString("en")} tokens` : "")));
      d.addEventListener("toggle", () => { if (d.open && d.childElementCount === 1) d.append(exchangeText(exchange)); });
      body.append(d);
    }
    shown += 50;
    more.hidden = shown >= run.exchanges.length;
  }
  fill();
  return part("exchanges", "Questions and replies", body, more);
}
const exchangeText = (exchange) => make("div", null, exchange.question.map(([speaker, text]) => [make("h3", null, speaker), make("pre", {class: "wrap tall", tabindex: "0"}, text)]),
  make("h3", null, exchange.error ? "no reply" : "reply"), make("pre", {class: "wrap tall", tabindex: "0"}, exchange.error || exchange.reply));

// ---- several runs ----

function comparePart() {
  const runs = data.runs;
  if (runs.length < 2) return null;
  const over = axisOf(runs), axis = AXES[over], names = runs.map((r, k) => `${runName(r)}: ${r.run.policy}`);
  const curves = runs.map((r) => bestSteps(r, over));
  const all = curves.flat();
  const tunables = [...new Set(runs.flatMap((r) => r.tunables.map((tunable) => tunable.name)))];
  const valueIn = (r, name) => {
    const k = r.tunables.findIndex((tunable) => tunable.name === name);
    return k < 0 || r.best < 0 || r.trials.values[r.best][k] < 0 ? "" : r.tunables[k].values[r.trials.values[r.best][k]];
  };
  const facts = [["best time", (r) => r.best < 0 ? "none right" : `${seconds(r.trials.seconds[r.best])} (${seconds(r.trials.low[r.best])} to ${seconds(r.trials.high[r.best])})`], ["speedup", (r) => r.best < 0 ? "" : speedup(r.trials.speedup[r.best])],
    ["trials", (r) => String(r.count)], ["wall time", (r) => duration(r.run.seconds)], ["problem", (r) => r.run.problem], ["policy", (r) => r.run.policy], ["device", (r) => r.run.device]];
  const line = ([name, text]) => {
    const cells = runs.map(text);
    return cells.every((cell) => cell === "") ? null : make("tr", null, make("th", {scope: "row"}, name), cells.map((cell) => make("td", null, new Set(cells).size > 1 ? make("strong", null, cell) : cell)));
  };
  const swatches = make("div", {class: "legend"}, names.map((name, k) => {
    const swatch = make("span", {class: "swatch"});
    swatch.style.background = `var(${LINES[k % LINES.length]})`;
    return make("span", null, swatch, name);
  }));
  return part("compare", "Runs beside each other", swatches, all.length ? canvas("Best so far of " + names.join("; "), 300, (c, width, height) => {
    const box = {left: 70, right: width - 14, top: 10, bottom: height - 42}, [low, high] = bounds(all.map((s) => s.y));
    const end = Math.max(...runs.map((r) => endOf(r, over)), axis.least);
    const x = scale(over === "trials" ? 1 : 0, end, box.left, box.right, false), y = scale(low, high, box.bottom - 6, box.top + 6, true);
    axes(c, x, y, box, axis.text, (v) => seconds(v, 3), axis.label);
    curves.forEach((steps, k) => stepLine(c, steps, endOf(runs[k], over), x, y, LINES[k % LINES.length]));
    return curves.flatMap((steps, k) => steps.map((s) => ({x: x.place(s.x), y: y.place(s.y), text: `${names[k]}\ntrial ${runs[k].trials.id[s.i]}: ${seconds(s.y)}`})));
  }) : null,
  make("div", {class: "choices"}, choices("compare-x", "over", axesOf(runs), axisOf(runs), (value) => { state.x = value; render(); })),
  rows([""].concat(runs.map(runName)), facts.map(line).concat(tunables.map((name) => line([name, (r) => valueIn(r, name)]))), {label: "runs beside each other"}));
}

// ---- one trial ----

/// The lines of two texts with how they differ; a table of common lengths, so that equal parts stay together.
function lineDiff(before, after) {
  const a = before.split("\n"), b = after.split("\n");
  let head = 0, tail = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) ++head;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) ++tail;
  const out = a.slice(0, head).map((line) => [" ", line]), x = a.slice(head, a.length - tail), y = b.slice(head, b.length - tail);
  const n = x.length, m = y.length;
  if (n * m > 4e6) out.push(...x.map((line) => ["-", line]), ...y.map((line) => ["+", line]));
  else {
    const common = new Uint32Array((n + 1) * (m + 1));
    for (let i = n - 1; i >= 0; --i) for (let j = m - 1; j >= 0; --j)
      common[i * (m + 1) + j] = x[i] === y[j] ? common[(i + 1) * (m + 1) + j + 1] + 1 : Math.max(common[(i + 1) * (m + 1) + j], common[i * (m + 1) + j + 1]);
    for (let i = 0, j = 0; i < n || j < m;) {
      if (i < n && j < m && x[i] === y[j]) { out.push([" ", x[i]]); ++i; ++j; }
      else if (j >= m || (i < n && common[(i + 1) * (m + 1) + j] >= common[i * (m + 1) + j + 1])) out.push(["-", x[i++]]);
      else out.push(["+", y[j++]]);
    }
  }
  return out.concat(a.slice(a.length - tail).map((line) => [" ", line]));
}
function diffText(before, after) {
  const lines = lineDiff(before, after), near = 3, keep = lines.map(() => false);
  lines.forEach(([sign], i) => { if (sign !== " ") for (let k = Math.max(0, i - near); k <= Math.min(lines.length - 1, i + near); ++k) keep[k] = true; });
  if (!keep.some(Boolean)) return make("p", {class: "note"}, "The code is the same.");
  const pre = make("pre", {class: "diff tall", tabindex: "0"});
  lines.forEach(([sign, text], i) => {
    if (keep[i]) pre.append(make("span", {class: sign === "+" ? "plus" : sign === "-" ? "minus" : null}, sign + " " + text));
    else if (i === 0 || keep[i - 1]) pre.append(make("span", {class: "gap"}, "..."));
  });
  return pre;
}
const codeOf = (i) => run.kernels[run.trials.kernel[i]];
const wholeCode = (code) => code.filter(Boolean).join("\n");

function detailPart(i) {
  const t = run.trials, detail = run.details[t.id[i]], out = [];
  const facts = [["verdict", verdictName(i)], ["time", run.ok[i] ? `${seconds(t.seconds[i])} (${seconds(t.low[i])} to ${seconds(t.high[i])})` : ""], ["speedup", speedup(t.speedup[i]) + (t.speedup[i] ? `, ${t.speedup[i][3]} pairs` : "")],
    ["score S", t.score ? scoreText(t.score[i]) : ""], ["move", moveText(i)], ["against the parent", ratioText(i)], ["told at", duration(t.elapsed[i])], ["build, check, measure", t.build[i] + t.check[i] + t.measure[i] > 0 ? [t.build[i], t.check[i], t.measure[i]].map((s) => seconds(s, 3)).join(", ") : ""],
    ["measured on", placeOf(i)], ["load of others", t.load[i] > .005 ? percent(t.load[i]) : ""], ["inner trials", detail?.inner ? String(detail.inner) : ""]].filter(([, text]) => text);
  const table = facts.map(([name, text]) => row(name, text));
  if (t.parents[i].length) table.push(row("parents", make("span", null, t.parents[i].map((id, k) => [k ? ", " : "", trialLink(id)]))));
  out.push(rows([], table, {class: "facts", label: "facts of the trial"}));
  const settings = run.tunables.map((tunable, k) => [tunable.name, valueText(i, k)]).filter(([, v]) => v !== "");
  const reason = detail?.reason || run.texts[t.reason[i]];
  if (reason) out.push(make("h3", null, "Reason"), make("pre", {class: "wrap tall", tabindex: "0"}, reason));
  if (detail?.rationale) out.push(make("h3", null, "What it went by"), make("pre", {class: "wrap tall", tabindex: "0"}, detail.rationale));
  if (settings.length) {
    const best = run.best >= 0 && run.best !== i;
    out.push(make("h3", null, "Settings"), rows(best ? ["tunable", "here", "best"] : [], settings.map(([name, value], k) => {
      const theirs = best ? valueText(run.best, run.tunables.findIndex((tunable) => tunable.name === name)) : "";
      return row(name, best && theirs !== value ? make("strong", null, value) : value, ...(best ? [theirs] : []));
    }), {class: "facts", label: "settings"}));
  }
  if (detail?.shapes.length) out.push(make("h3", null, "Shapes"), shapeRows(detail.shapes));
  const features = Object.entries(detail?.features || {}).filter(([name]) => !name.startsWith("load."));
  if (features.length) {
    const groups = new Map();
    for (const [name, value] of features) {
      const group = /^(sass|code)\./.test(name) ? "Machine code" : name.startsWith("ncu.") || name.startsWith("stall_") ? "Counters" : "What was observed";
      if (!groups.has(group)) groups.set(group, []);
      groups.get(group).push([name, value]);
    }
    for (const [group, entries] of groups) out.push(make("details", {open: group === "What was observed"}, make("summary", null, `${group} (${entries.length})`),
      rows([], entries.map(([name, value]) => row(name, num(value === null ? "" : Math.abs(value) >= 1e4 ? engineering(value, 4) : digits(value, 5)))), {class: "facts", label: group})));
  }
  if (detail?.provenance) out.push(make("details", null, make("summary", null, "How it came about"), make("pre", {class: "wrap", tabindex: "0"}, detail.provenance)));
  if (!detail) out.push(make("p", {class: "note"}, "Of this trial the page has no more: those that matter most are kept in full."));
  return out;
}

function tabsOf(i) {
  const t = run.trials, code = codeOf(i), tabs = [["facts", "Facts", () => detailPart(i)]];
  if (code) tabs.push(["code", "Code", () => [["Kernel", code[0]], ["Host", code[1]], ["Macros", code[2]]].filter(([, text]) => text).map(([name, text]) => [make("h3", null, name), make("pre", {tabindex: "0"}, text)])]);
  const parent = run.place.get(t.parents[i][0]);
  if (code && parent !== undefined && codeOf(parent)) tabs.push(["parent", `Against parent ${t.id[parent]}`, () => diffText(wholeCode(codeOf(parent)), wholeCode(code))]);
  if (code && run.best >= 0 && run.best !== i && run.best !== parent && codeOf(run.best) && t.kernel[run.best] !== t.kernel[i]) tabs.push(["best", `Against best ${t.id[run.best]}`, () => diffText(wholeCode(codeOf(run.best)), wholeCode(code))]);
  const asked = run.asked.get(t.id[i]);
  if (asked) tabs.push(["asked", "Question and reply", () => asked.map((e) => exchangeText(run.exchanges[e]))]);
  return tabs;
}

let drawer = null, cameFrom = null;
function openTrial(i) {
  if (!drawer) cameFrom = document.activeElement;
  state.open = run.trials.id[i];
  if (!live) history.replaceState(null, "", "#trial=" + state.open);
  showDrawer(true);
}
function showDrawer(focus) {
  drawer?.remove();
  drawer = null;
  const i = state.open === null ? undefined : run.place.get(state.open);
  document.querySelectorAll(".tree g.chosen").forEach((node) => node.classList.remove("chosen"));
  if (i === undefined) return;
  document.querySelector(`.tree g[data-trial="${Number(state.open)}"]`)?.classList.add("chosen");
  const tabs = tabsOf(i), body = make("div", {role: "tabpanel", id: "trial-panel"});
  const buttons = make("div", {class: "tabs", role: "tablist", "aria-label": "parts of the trial"});
  const show = (id) => {
    const found = tabs.find((tab) => tab[0] === id) || tabs[0];
    state.tab = found[0];
    body.replaceChildren(...[found[2]()].flat(3));
    for (const button of buttons.children) {
      button.setAttribute("aria-selected", String(button.id === "tab-" + state.tab));
      button.tabIndex = button.id === "tab-" + state.tab ? 0 : -1;
    }
    body.setAttribute("aria-labelledby", "tab-" + state.tab);
  };
  for (const [id, name] of tabs) buttons.append(make("button", {id: "tab-" + id, role: "tab", "aria-controls": "trial-panel", onclick: () => show(id), onkeydown: (event) => {
    const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    if (!step) return;
    const k = (tabs.findIndex((tab) => tab[0] === id) + step + tabs.length) % tabs.length;
    show(tabs[k][0]);
    buttons.children[k].focus();
  }}, name));
  const title = make("h2", {tabindex: "-1", id: "trial-title"}, `Trial ${run.trials.id[i]}` + (i === run.best ? ", the best" : ""));
  const step = (by) => make("button", {"aria-label": by < 0 ? "previous trial" : "next trial", disabled: i + by < 0 || i + by >= run.count, onclick: () => openTrial(i + by)}, by < 0 ? "‹" : "›");
  drawer = make("aside", {class: "drawer", role: "dialog", "aria-labelledby": "trial-title"}, make("header", null, title, make("span", null, step(-1), " ", step(1), " ", make("button", {id: "close", onclick: closeDrawer}, "Close"))), buttons, body);
  show(state.tab);
  document.body.append(drawer);
  if (focus) title.focus();
}
function closeDrawer() {
  drawer?.remove();
  drawer = null;
  state.open = null;
  if (!live) history.replaceState(null, "", location.pathname + location.search);
  document.querySelectorAll(".tree g.chosen").forEach((node) => node.classList.remove("chosen"));
  if (cameFrom && cameFrom.isConnected) cameFrom.focus();
}
document.addEventListener("keydown", (event) => { if (event.key === "Escape" && drawer) closeDrawer(); });

// ---- all of it ----

let extra = null;  // what a server adds below the bar
function render() {
  const focused = document.activeElement?.id, top = window.scrollY;
  for (const plot of plots) sizes.unobserve(plot.node);
  plots.clear();
  tip.hidden = true;
  run = data.runs[state.run];
  const parts = [comparePart(), headline(), paretoPart(), bestPart(), failurePart(), tunablePart(), strategyPart(), treePart(), frontierPart(), checkpointPart(), memoryPart(), rooflinePart(), shapePart(), timePart(), trialsPart(), exchangePart()].filter(Boolean);
  const links = parts.map((p) => make("a", {href: "#" + p.id, onclick: (event) => { event.preventDefault(); p.scrollIntoView(); }}, p.id === "overview" ? "Overview" : p.querySelector("h2").textContent));
  const themes = select("theme", "", [["", "system's colours"], ["light", "light"], ["dark", "dark"]], document.documentElement.className, (v) => { document.documentElement.className = v; redrawAll(); });
  themes.firstChild.setAttribute("aria-label", "colours");
  const bar = make("div", {class: "bar"}, make("div", null,
    data.runs.length > 1 ? select("run", "run", data.runs.map((r, k) => [k, `${r.run.id || ""} ${r.run.name || r.run.problem}`.trim()]), state.run, (v) => { closeDrawer(); Object.assign(state, {run: Number(v), open: null, brush: {}, at: 0, mapX: "", mapY: ""}); render(); }) : null,
    make("nav", {"aria-label": "parts of the page"}, links), themes));
  page.replaceChildren(make("h1", null, data.runs.length > 1 ? data.runs.map(titleOf).join(", ") : titleOf(run)), extra ? extra() : "", ...parts);
  document.querySelector(".bar")?.remove();
  page.before(bar);
  if (focused) document.getElementById(focused)?.focus({preventScroll: true});
  window.scrollTo(0, top);
}

function begin(given) {
  data = given;
  data.runs.forEach(prepared);
  state.run = Math.min(state.run, data.runs.length - 1);
  render();
  const asked = /^#trial=(\d+)$/.exec(location.hash);
  if (asked && state.open === null) { state.open = Number(asked[1]); showDrawer(false); }
}

// ---- a server of this machine: a list of runs, and pages that grow ----

const live = document.getElementById("live");
const token = live ? new URLSearchParams(location.search).get("token") : "";
const api = (path, more = {}) => `/api/${path}?${new URLSearchParams({...more, token})}`;
const served = {runs: [], stores: [], shown: [], search: "", still: "all", chosen: new Set(), busy: false, again: false, took: 0, told: "", now: {runs: {}, machine: null}, notes: null};
const mayControl = live ? JSON.parse(live.textContent).control : false;

async function fetched(path, more, options) {
  const answer = await fetch(api(path, more), options);
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}
const rowOf = (key) => served.runs.find((r) => r.key === key);

// ---- what runs do at the moment, tags and notes ----

const tagChips = (r) => r.tags.map((tag) => [make("span", {class: "chip"}, tag), " "]);
/// What a run does now in words; empty where no process of this machine works on it.
function nowText(key) {
  const now = served.now.runs[key];
  if (!now) return "";
  return [now.paused ? "paused" : "", now.paused && now.doing.startsWith("paused") ? "" : now.doing, now.filled !== null ? percent(Math.min(1, now.filled)) + " of its budget" : "",
    now.left !== null && !now.paused ? duration(now.left) + " left" : ""].filter(Boolean).join(", ");
}
const stateOf = (r) => r.finished ? r.reason || "ended" : make("span", {class: "live"}, nowText(r.key) || (served.now.runs[r.key] ? "working" : "not ended"));
function machineText() {
  const machine = served.now.machine;
  return machine ? `load ${machine.load.toFixed(1)} of ${plural(machine.processors, "processor")}; ` + (machine.held.length ? "measured on: " + machine.held.join("; ") : "nothing is measured on") : "";
}
/// Only texts change: what has the focus, and what somebody types, stays.
function nowChanged() {
  const put = (id, content) => document.getElementById(id)?.replaceChildren(content);
  put("machine", machineText());
  if (!served.shown.length) for (const r of served.runs) put("state-" + r.key, stateOf(r));
  else if (document.getElementById("controls")) {
    const key = served.shown[state.run], now = served.now.runs[key];
    put("now", nowLine(key));
    const pause = document.getElementById("pause");
    if (pause && now) pause.textContent = now.paused ? "Continue" : "Pause";
  }
}
const nowLine = (key) => { const now = served.now.runs[key], text = nowText(key); return now ? (text ? text + "; " : "") + `process ${now.process}` : ""; };

/// The tags and the note of the shown run, kept while the page is drawn anew, so that what is typed stays.
function notesOf(r) {
  const said = JSON.stringify([r.key, r.tags, r.note]);
  if (served.notes && (served.notes.said === said || (served.notes.key === r.key && served.notes.open()))) return served.notes.node;
  const tags = make("input", {id: "note-tags", value: r.tags.join(", "), size: "30", placeholder: "separated by commas"}), text = make("textarea", {id: "note-text", rows: "3", maxlength: "4000"});
  text.value = r.note;
  const told = make("span", {role: "status"});
  const shown = make("div", null, tagChips(r), r.note ? make("p", {id: "note", class: "note"}, r.note) : "");
  const form = mayControl ? make("details", {id: "notes"}, make("summary", null, r.tags.length || r.note ? "Change tags and note" : "Add tags or a note"),
    make("form", {class: "choices", onsubmit: async (event) => {
      event.preventDefault();
      try {
        await fetched("note", {run: r.key}, {method: "POST", headers: {"X-Kernelsearch": "control"}, body: JSON.stringify({tags: tags.value.split(",").map((tag) => tag.trim()).filter(Boolean), note: text.value})});
        form.open = false;
      } catch (error) { told.textContent = error.message; }
    }}, make("label", null, "tags", tags), make("label", null, "note", text), make("button", {id: "note-save", type: "submit"}, "Save"), told)) : "";
  served.notes = {key: r.key, said, node: make("div", null, shown, form), open: () => form !== "" && form.open};
  return served.notes.node;
}

function showList() {
  const focused = document.activeElement?.id, words = served.search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = served.runs.filter((r) => (served.still === "all" || r.finished === (served.still === "ended")) &&
    words.every((word) => `${r.id} ${r.name} ${r.problem} ${r.policy} ${r.device} ${r.reason} ${r.tags.join(" ")} ${r.note}`.toLowerCase().includes(word)));
  const many = served.stores.length > 1;
  const compare = make("button", {id: "compare-chosen", disabled: served.chosen.size < 2, onclick: () => showRuns([...served.chosen])}, "Compare the chosen");
  document.querySelector(".bar")?.remove();
  for (const plot of plots) sizes.unobserve(plot.node);
  plots.clear();
  page.replaceChildren(make("h1", null, "Runs"), make("p", {class: "note"}, served.stores.join(", ")), make("p", {class: "note", id: "machine"}, machineText()), make("section", {"aria-label": "runs"},
    make("div", {class: "choices"}, make("label", null, "search", make("input", {type: "search", id: "search-runs", value: served.search, oninput: (e) => { served.search = e.target.value; showList(); }})),
      select("still", "state", [["all", "all"], ["open", "not ended"], ["ended", "ended"]], served.still, (v) => { served.still = v; showList(); }), compare, make("span", {role: "status", id: "run-count"}, plural(found.length, "run"))),
    rows(["", num("run"), "name", "problem", "policy", num("trials"), num("best"), num("wall time"), "started", "state", "tags and note", "device"].concat(many ? ["store"] : []), found.slice(0, 1000).map((r) => make("tr", null,
      make("td", null, make("input", {type: "checkbox", id: "choose-" + r.key, checked: served.chosen.has(r.key), "aria-label": `compare run ${r.id}`, onchange: (e) => {
        if (e.target.checked) served.chosen.add(r.key); else served.chosen.delete(r.key);
        compare.disabled = served.chosen.size < 2;
      }})), make("td", {class: "n"}, make("button", {class: "link", id: "run-" + r.key, onclick: () => showRuns([r.key])}, String(r.id))), [r.name, r.problem, r.policy].map((text) => make("td", null, text)),
      make("td", {class: "n"}, r.trials.toLocaleString("en")), make("td", {class: "n"}, seconds(r.best)), make("td", {class: "n"}, duration(r.seconds)), make("td", null, r.started.replace("T", " ").slice(0, 19)),
      make("td", {id: "state-" + r.key}, stateOf(r)), make("td", {class: "text"}, tagChips(r), r.note), make("td", null, r.device), many ? make("td", null, served.stores[Number(r.key.split(".")[0])]) : null)), {label: "runs"})));
  if (focused) document.getElementById(focused)?.focus({preventScroll: true});
}

const ASKED = {
  stop: () => "Stop this run? What it has measured is kept, and it can be resumed.",
  pause: () => "Pause this run? It finishes what is under way and begins nothing new.",
  continue: () => "Let this run go on?",
  resume: (budget) => `Resume this run${budget ? " with the budget " + budget : ""}?`,
};
async function control(action) {
  const key = served.shown[state.run], budget = action === "resume" ? served.budget.value.trim() : "";
  if (!confirm(ASKED[action](budget))) return;
  try {
    served.told = (await fetched("control", {run: key, action, budget}, {method: "POST", headers: {"X-Kernelsearch": "control"}})).told;
  } catch (error) { served.told = error.message; }
  document.getElementById("told")?.replaceChildren(served.told);
}
function liveBar() {
  const key = served.shown[state.run], row = rowOf(key), now = served.now.runs[key];
  served.budget = served.budget || make("input", {id: "budget", size: "8", placeholder: "200 or 60s"});
  return make("div", {id: "controls"}, make("div", {class: "choices"}, make("button", {id: "all-runs", onclick: () => { closeDrawer(); served.shown = []; history.replaceState(null, "", location.pathname + location.search); showList(); }}, "All runs"),
    row && !row.finished ? make("span", {class: "live"}, "grows as the run works") : null, make("span", {id: "now"}, nowLine(key)),
    mayControl && row ? (row.finished ? [make("label", null, "budget", served.budget), make("button", {id: "resume", onclick: () => control("resume")}, "Resume")]
      : [make("button", {id: "pause", onclick: () => control(served.now.runs[key]?.paused ? "continue" : "pause")}, now?.paused ? "Continue" : "Pause"), make("button", {id: "stop", onclick: () => control("stop")}, "Stop")]) : null,
    make("span", {role: "status", id: "told"}, served.told)), make("p", {class: "note", id: "machine"}, machineText()), row ? notesOf(row) : "");
}

async function showRuns(keys) {
  if (served.shown.join() !== keys.join()) served.told = "";
  if (served.shown.join() !== keys.join()) Object.assign(state, {run: 0, open: null, brush: {}, at: 0, filter: "", verdict: "", mapX: "", mapY: ""});
  served.shown = keys;
  history.replaceState(null, "", "#run=" + keys.join());
  await reload();
}
/// The shown runs again; one reload at a time, and not much more often than one takes.
async function reload() {
  if (served.busy) { served.again = true; return; }
  served.busy = true;
  do {
    served.again = false;
    const begun = performance.now(), keys = served.shown.join();
    try {
      const got = await fetched("report", {runs: keys});
      if (keys === served.shown.join() && keys) { begin(got); if (state.open !== null) showDrawer(false); }
    } catch (error) { served.told = error.message; }
    served.took = performance.now() - begun;
    if (served.again) await new Promise((wake) => setTimeout(wake, Math.max(200, 4 * served.took)));
  } while (served.again);
  served.busy = false;
}
function beginLive() {
  extra = liveBar;
  const events = new EventSource(api("events"));
  events.onmessage = (event) => {
    const before = new Map(served.runs.map((r) => [r.key, r]));
    Object.assign(served, JSON.parse(event.data));
    if (!served.shown.length) showList();
    else if (served.shown.some((key) => { const a = before.get(key), b = rowOf(key); return b && (!a || a.trials !== b.trials || a.finished !== b.finished || a.best !== b.best); })) reload();
    else if (data && served.shown.some((key) => { const a = before.get(key), b = rowOf(key); return a && b && (a.note !== b.note || a.tags.join() !== b.tags.join()); })) render();
  };
  events.addEventListener("now", (event) => { served.now = JSON.parse(event.data); nowChanged(); });
  const asked = /^#run=([\d.,]+)$/.exec(location.hash);
  if (asked) showRuns(asked[1].split(","));
}

document.body.append(tip, spoken);
const embedded = document.getElementById("data");
if (embedded) requestAnimationFrame(() => setTimeout(() => begin(JSON.parse(embedded.textContent)), 0));  // the summary is painted first
if (live) beginLive();
})();
