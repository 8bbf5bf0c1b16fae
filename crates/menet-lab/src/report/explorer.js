// The path explorer: choose a set and a column, move along its knots.
"use strict";
(() => {
  const { base, byId, draw } = report;
  const { sets, nameOf, short, colourOf, lookOf, activeAt, mark, chart, picture, bars } = paths;
  const now = { set: 0, column: 0, knot: 0 };
  const set = () => sets[now.set];
  const column = () => set().columns[now.column];

  // The measured rate with the most variables that are not more than are in use.
  const rateAt = (count) => {
    const fitting = set().rates.filter(([most]) => most <= count);
    return fitting.length ? fitting.reduce((a, b) => (b[0] > a[0] ? b : a)) : null;
  };
  const listed = (variables) => {
    const names = variables.slice(0, 3).map((v) => nameOf(set(), v));
    const more = variables.length - names.length;
    return names.length ? names.join("; ") + (more ? ` and ${more} more` : "") : "none";
  };
  const showFacts = (active) => {
    const { levels, norms, kkt, scaled, entered, left } = column();
    const rate = rateAt(active.length);
    const facts = [
      ["penalty λ", short(levels[now.knot])],
      ["ℓ1 norm", short(norms[now.knot])],
      ["variables in use", String(active.length)],
      ["rate at this sparsity", rate ? `${short(rate[1])} % (all axes, at most ${rate[0]} variables each)` : "not measured"],
      ["KKT violation, relative", short(kkt[now.knot])],
      ["KKT violation, scaled", short(scaled[now.knot])],
      ["enter here", listed(entered[now.knot])],
      ["leave here", listed(left[now.knot])],
    ];
    byId("explorer-facts").replaceChildren(
      ...facts.map(([term, value]) => {
        const row = document.createElement("div");
        const [dt, dd] = ["dt", "dd"].map((tag) => document.createElement(tag));
        dt.textContent = term;
        dd.textContent = value;
        row.append(dt, dd);
        return row;
      }),
    );
  };
  const showRates = (active) => {
    const { rates } = set();
    byId("explorer-rates-figure").hidden = rates.length === 0;
    if (!rates.length) return;
    const here = rateAt(active.length);
    const line = { color: lookOf(0)[0], width: 2 };
    const [x, y] = [0, 1].map((i) => rates.map((rate) => rate[i]));
    const hovertemplate = "at most %{x}: %{y:.1f} %<extra></extra>";
    const traces = [{ type: "scatter", mode: "lines+markers", x, y, line, marker: { color: line.color, size: 7 }, hovertemplate }];
    if (here) {
      const ring = { symbol: "circle-open", size: 16, color: lookOf(1)[0], line: { width: 3 } };
      traces.push({ type: "scatter", mode: "markers", x: [here[0]], y: [here[1]], marker: ring, hoverinfo: "skip" });
    }
    const layout = base("variables an axis may use", "rate on this split (%)");
    draw("explorer-rates", traces, { ...layout, xaxis: { ...layout.xaxis, rangemode: "tozero" }, showlegend: false });
  };
  const showKnot = () => {
    const { places, knots, entered } = column();
    const active = activeAt(column(), now.knot);
    byId("explorer-where").textContent = `Knot ${places[now.knot] + 1} of ${knots}`;
    byId("explorer-knot").setAttribute("aria-valuetext", `knot ${places[now.knot] + 1}, ${active.length} variables`);
    byId("explorer-back").disabled = now.knot === 0;
    byId("explorer-next").disabled = now.knot === places.length - 1;
    showFacts(active);
    const heaviest = [...active].sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
    bars(byId("explorer-active"), set(), heaviest, () => null);
    byId("explorer-picture").hidden = !set().shape;
    if (set().shape) {
      picture(byId("explorer-canvas"), set(), active, entered[now.knot], [], (v) => colourOf(column(), v));
    }
    showRates(active);
  };
  const move = (knot) => {
    now.knot = Math.max(0, Math.min(column().places.length - 1, knot));
    byId("explorer-knot").value = String(now.knot);
    showKnot();
    Plotly.relayout(byId("explorer-paths"), { shapes: mark(column(), now.knot) });
  };
  const drawAll = () => {
    chart("explorer-paths", set(), column(), now.knot);
    showKnot();
  };
  const showColumn = () => {
    const { places, knots, ended } = column();
    const slider = byId("explorer-knot");
    slider.max = String(places.length - 1);
    now.knot = places.length - 1;
    slider.value = String(now.knot);
    const thinned = places.length < knots ? ` To keep this file small, ${places.length} of its ${knots} knots are here.` : "";
    byId("explorer-note").textContent = `The path ${ended}.${thinned}`;
    drawAll();
  };
  const fill = (select, labels) => select.replaceChildren(...labels.map((label, i) => new Option(label, i)));
  const showSet = () => {
    fill(byId("explorer-column"), set().columns.map((_, i) => String(i + 1)));
    now.column = 0;
    showColumn();
  };

  if (sets.length) {
    fill(byId("explorer-set"), sets.map(({ title }) => title));
    const listen = (id, event, act) => byId(id).addEventListener(event, act);
    listen("explorer-set", "change", (event) => {
      now.set = Number(event.target.value);
      showSet();
    });
    listen("explorer-column", "change", (event) => {
      now.column = Number(event.target.value);
      showColumn();
    });
    listen("explorer-knot", "input", (event) => move(Number(event.target.value)));
    listen("explorer-back", "click", () => move(now.knot - 1));
    listen("explorer-next", "click", () => move(now.knot + 1));
    showSet();
    report.follow(drawAll);
  }
  document.documentElement.dataset.ready = "yes";
})();
