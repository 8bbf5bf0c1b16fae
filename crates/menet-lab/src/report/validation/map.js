// The sample map: samples on two axes, or along one, with decision regions, ellipses and the samples that a reader projects.
"use strict";
const sampleMap = (() => {
  const { data, looks, base, byId, css, plain, cut, twin, draw, follow } = report;
  if (!data.map) return { project: () => {} };
  const { classes, map } = data;
  // What one redraw may compute: grid points × samples of the gallery × axes.
  const BUDGET = 2e7;
  const LEGEND = 24;
  // 95 % of a normal distribution in two dimensions are within so many standard deviations.
  const RADIUS = Math.sqrt(-2 * Math.log(0.05));
  const state = { model: "all", x: 0, y: 1, added: [] };
  const decide = {};
  for (const name of ["all", "fold"]) if (!map[name].rule.missing) decide[name] = rules.learned(map[name].rule);

  const look = (k) => looks[k % looks.length];
  const indices = map.class.map((_, i) => i);
  const extent = (values) => {
    const [low, high] = values.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, -Infinity]);
    const margin = 0.06 * (high - low) || 1;
    return [low - margin, high + margin];
  };
  const grid = ([low, high], count) => Array.from({ length: count }, (_, i) => low + ((high - low) * (i + 0.5)) / count);
  // Scores with the other axes at 0, which is the mean of the training samples.
  const at = (axes, x, y) => {
    const z = new Array(axes).fill(0);
    z[state.x] = x;
    if (axes > 1) z[state.y] = y;
    return z;
  };
  const regions = (model, xs, ys) => {
    const { rule, axes } = map[model];
    const known = (x, y) => rule.classes[decide[model](at(axes, x, y)).class];
    const z = axes > 1 ? ys.map((y) => xs.map((x) => known(x, y))) : [xs.map((x) => known(x, 0))];
    const rows = axes > 1 ? z : ys.map(() => z[0]);
    return heat(xs, ys, rows, 0.2);
  };
  // Classes as a heat map in their colours.
  const heat = (x, y, z, opacity) => {
    const count = classes.length;
    const colour = (k) => twin(look(k)[0]);
    const scale = classes.flatMap((_, k) => [[k / count, colour(k)], [(k + 1) / count, colour(k)]]);
    const trace = { type: "heatmap", z, zmin: -0.5, zmax: count - 0.5, colorscale: scale, showscale: false };
    return { ...trace, x, y, opacity, hoverinfo: "skip" };
  };
  const gridSize = (model) => {
    const { rule, axes } = map[model];
    const each = axes * (rule.gallery ? rule.gallery.length : rule.means.length);
    if (axes === 1) return 400;
    return Math.max(30, Math.min(140, Math.floor(Math.sqrt(BUDGET / each))));
  };

  const ellipse = (points, k) => {
    const n = points.length;
    if (n < 3) return null;
    const [mx, my] = [0, 1].map((a) => points.reduce((sum, p) => sum + p[a], 0) / n);
    const moment = (a, b) => points.reduce((sum, p) => sum + (p[a] - [mx, my][a]) * (p[b] - [mx, my][b]), 0) / (n - 1);
    // The lower Cholesky factor of the covariance turns a circle into the ellipse.
    const a = Math.sqrt(moment(0, 0));
    const b = a > 0 ? moment(0, 1) / a : 0;
    const c = Math.sqrt(Math.max(0, moment(1, 1) - b * b));
    const turns = Array.from({ length: 61 }, (_, i) => (i * Math.PI) / 30);
    return {
      type: "scatter",
      mode: "lines",
      x: turns.map((t) => mx + RADIUS * a * Math.cos(t)),
      y: turns.map((t) => my + RADIUS * (b * Math.cos(t) + c * Math.sin(t))),
      line: { color: look(k)[0], width: 2 },
      hoverinfo: "skip",
      showlegend: false,
    };
  };

  // Spread out across the strip of their class, always alike.
  const jitter = (i) => (((i * 0.618034) % 1) - 0.5) * 0.6;
  const told = (i) => {
    const [tested, wrong] = map.tested[i];
    const often = tested ? `held out ${tested} times, wrong ${wrong}` : "never held out";
    return `${plain(map.names[i])}<br>${plain(classes[map.class[i]])}<br>${often}`;
  };

  const redraw = () => {
    const model = state.model;
    const { axes, scores } = map[model];
    const flat = axes === 1;
    const narrow = byId("map-chart").clientWidth < 600;
    const xOf = (i) => scores[i][state.x];
    const yOf = (i) => (flat ? map.class[i] + jitter(i) : scores[i][state.y]);
    const added = model === "all" ? state.added : [];
    const drawn = model === "fold" ? indices.filter((i) => map.held[i] !== null) : indices;
    const seen = (i) => model === "all" || map.held[i] === false;
    const members = classes.map((_, k) => drawn.filter((i) => map.class[i] === k));
    const round = byId("map-ellipses").checked && !flat;
    const lines = members.map((own, k) => (round ? ellipse(own.filter(seen).map((i) => [xOf(i), yOf(i)]), k) : null));
    const reach = (axis) => lines.flatMap((line) => (line ? line[axis] : []));
    const xs = extent([...drawn.map(xOf), ...reach("x"), ...added.map((s) => s.scores[state.x])]);
    const ys = flat
      ? [-0.6, classes.length - 0.4]
      : extent([...drawn.map(yOf), ...reach("y"), ...added.map((s) => s.scores[state.y])]);
    const traces = [];
    const shaded = byId("map-regions").checked && decide[model];
    if (shaded) {
      const size = gridSize(model);
      traces.push(regions(model, grid(xs, size), flat ? grid(ys, 2) : grid(ys, size)));
    }
    traces.push(...lines.filter((line) => line));
    classes.forEach((name, k) => {
      const own = members[k];
      const [color, , symbol] = look(k);
      const points = (which, marker, showlegend) => ({
        type: "scatter",
        mode: "markers",
        x: which.map(xOf),
        y: which.map(yOf),
        name: plain(cut(name, narrow ? 20 : 32)),
        legendgroup: `class ${k}`,
        showlegend: showlegend && classes.length <= LEGEND,
        marker: { color, symbol, ...marker },
        customdata: which.map(told),
        hovertemplate: "%{customdata}<extra></extra>",
      });
      const known = own.filter(seen);
      const held = own.filter((i) => !seen(i));
      const line = { color: css("--ground"), width: 1 };
      if (model === "all") traces.push(points(known, { size: 9, line }, true));
      else {
        traces.push(points(known, { size: 7, opacity: 0.4 }, true));
        traces.push(points(held, { size: 12, line: { color: css("--ink"), width: 2 } }, known.length === 0));
      }
    });
    if (added.length) {
      traces.push({
        type: "scatter",
        mode: "markers",
        x: added.map((s) => s.scores[state.x]),
        y: added.map((s, i) => (flat ? (s.class ?? 0) + jitter(i) : s.scores[state.y])),
        name: "new",
        marker: { symbol: "star", size: 18, color: css("--mark"), line: { color: css("--ground"), width: 1.5 } },
        customdata: added.map((s) => `${plain(s.name)}<br>${s.class === null ? "new" : `new: ${plain(classes[s.class])}`}`),
        hovertemplate: "%{customdata}<extra></extra>",
      });
    }
    const axis = (text, range) => ({ title: { text }, range, zeroline: false, automargin: true });
    const ticks = classes.map((name) => plain(cut(name, narrow ? 12 : 24)));
    const strip = { tickmode: "array", tickvals: classes.map((_, k) => k), ticktext: ticks, showgrid: false };
    const shown = classes.length <= LEGEND ? classes.length : 0;
    // Room for the legend below.
    const perRow = narrow ? 1.7 : 4;
    byId("map-chart").style.height = `${(flat ? 160 + 44 * Math.min(classes.length, 20) : 500) + 22 * Math.ceil((shown + 1) / perRow)}px`;
    draw("map-chart", traces, {
      ...base(),
      legend: { orientation: "h", x: 0, itemsizing: "constant" },
      xaxis: axis(`axis ${state.x + 1}`, xs),
      yaxis: flat ? { ...axis("", ys), ...strip } : axis(`axis ${state.y + 1}`, ys),
    });
    byId("map-note").textContent = note(model, flat, axes, added.length, shaded);
  };

  const note = (model, flat, axes, added, shaded) => {
    const out = flat ? ["the model has one axis: one strip per class, spread only to tell samples apart"] : [];
    if (model === "fold") {
      const held = map.held.filter((h) => h === true).length;
      out.push(`the model of the first fold: ${held} held-out samples large and outlined, its training samples faint`);
    } else out.push("the final model has seen all samples");
    if (map[model].rule.missing) out.push(`no regions: ${map[model].rule.missing}`);
    else if (shaded) {
      const rest = axes > 2 ? ", the other axes at their mean: a sample may be decided otherwise than the region it lies in" : "";
      out.push(`shaded: the class that the rule ${map[model].rule.kind} gives at each place${rest}`);
    }
    if (byId("map-ellipses").checked && !flat) out.push("ellipses: 95 % of each class, were it normal");
    if (added) out.push(`star: ${added === 1 ? "the new sample" : `${added} new samples`}`);
    else if (model === "fold" && state.added.length) out.push("new samples are on the map of the final model");
    if (classes.length > LEGEND) out.push("hover to see the class");
    return out.join("; ");
  };

  // Selects for the axes; as many as the model has.
  const fill = (id, count, chosen) => {
    byId(id).replaceChildren(
      ...Array.from({ length: count }, (_, i) => {
        const option = document.createElement("option");
        option.value = String(i);
        option.textContent = `axis ${i + 1}`;
        return option;
      }),
    );
    byId(id).value = String(chosen);
  };
  const choose = () => {
    const { axes } = map[state.model];
    state.x = Math.min(state.x, axes - 1);
    state.y = Math.min(state.y, Math.max(0, axes - 1));
    if (state.y === state.x && axes > 1) state.y = (state.x + 1) % axes;
    fill("map-x", axes, state.x);
    fill("map-y", axes, state.y);
    for (const id of ["map-x-label", "map-y-label"]) byId(id).hidden = axes === 1;
    byId("map-ellipses").closest("label").hidden = axes === 1;
    redraw();
  };
  const swap = (moved, other) => (event) => {
    const before = state[moved];
    state[moved] = Number(event.target.value);
    // Two different axes: choosing the other's exchanges them.
    if (state[other] === state[moved]) state[other] = before;
    choose();
  };
  byId("map-model").addEventListener("change", (event) => {
    state.model = event.target.value;
    choose();
  });
  byId("map-x").addEventListener("change", swap("x", "y"));
  byId("map-y").addEventListener("change", swap("y", "x"));
  for (const id of ["map-regions", "map-ellipses"]) byId(id).addEventListener("change", redraw);
  // With other axes at their mean, regions say little of where samples are: they are shown if one asks.
  byId("map-regions").checked = map.all.axes <= 2;
  choose();
  follow(redraw);

  // Samples that a reader projects: [{ name, scores, class }].
  const project = (samples) => {
    state.added = samples;
    redraw();
  };
  return { project, decide: decide.all };
})();
