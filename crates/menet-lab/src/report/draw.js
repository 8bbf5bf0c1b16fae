// Draws charts and pictures in the reader's colour scheme, whenever that changes. All that came from data is put into the
// page as text, never as markup; plotly reads a little HTML in its texts, so `plain` escapes names for it.
"use strict";
const report = (() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const touch = matchMedia("(pointer: coarse)");
  const byId = (id) => document.getElementById(id);
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const plain = (name) =>
    name.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/%\{/g, "%\u200b{");
  // Names often begin alike: the end tells them apart.
  const cut = (name, most) => {
    const letters = Array.from(name);
    if (letters.length <= most) return name;
    const tail = Math.floor(most / 3);
    return letters.slice(0, most - tail - 1).join("") + "…" + letters.slice(-tail).join("");
  };

  // The charts come in colours for light grounds; each has a twin for dark ones. Opacity follows the sixth digit.
  const twin = (colour) => {
    const found = typeof colour === "string" && dark.matches ? data.dark[colour.slice(0, 7)] : undefined;
    return found ? found + colour.slice(7) : colour;
  };
  const themedTrace = (trace) => {
    const out = { ...trace };
    if (trace.line) out.line = { ...trace.line, color: twin(trace.line.color) };
    if (trace.marker) out.marker = { ...trace.marker, color: twin(trace.marker.color) };
    if (trace.marker?.line) out.marker.line = { ...trace.marker.line, color: twin(trace.marker.line.color) };
    if (trace.error_y) out.error_y = { ...trace.error_y, color: twin(trace.error_y.color) };
    if (trace.error_x) out.error_x = { ...trace.error_x, color: twin(trace.error_x.color) };
    if (trace.fillcolor) out.fillcolor = twin(trace.fillcolor);
    return out;
  };
  const themedLayout = (layout) => {
    const line = css("--line");
    const axis = (of) => ({ ...of, gridcolor: line, linecolor: line, tickcolor: line, zerolinecolor: line });
    const shape = (of) => ({ ...of, line: { ...of.line, color: twin(of.line.color) } });
    const axes = Object.entries(layout).filter(([key]) => /^[xy]axis/.test(key));
    return {
      ...layout,
      ...Object.fromEntries(axes.map(([key, of]) => [key, axis(of)])),
      ...(layout.shapes ? { shapes: layout.shapes.map(shape) } : {}),
      // A finger that scrolls the page must not zoom the chart.
      dragmode: touch.matches ? false : "zoom",
      font: { color: css("--ink"), family: "system-ui, DejaVu Sans, sans-serif", size: 13 },
      hoverlabel: { bgcolor: css("--card"), bordercolor: line, font: { color: css("--ink") } },
      // At the bottom of the whole chart, clear of the axis whatever the chart's height.
      legend: { ...layout.legend, yref: "container", y: 0, yanchor: "bottom" },
    };
  };
  const config = { responsive: true, displayModeBar: false };
  const draw = (id, traces, layout) =>
    Plotly.react(byId(id), traces.map(themedTrace), themedLayout(layout), config);

  // Pictures are plain at zero and turn to one colour or the other with the weight.
  const channels = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  const mixer = () => {
    const [zero, against, towards] = ["--zero", "--against", "--for"].map((name) => channels(css(name)));
    return (strength) => {
      const end = strength < 0 ? against : towards;
      return zero.map((from, i) => Math.round(from + (end[i] - from) * Math.min(1, Math.abs(strength))));
    };
  };
  const paint = (canvas, colourAt) => {
    const context = canvas.getContext("2d");
    const image = context.createImageData(canvas.width, canvas.height);
    for (let i = 0; i < canvas.width * canvas.height; i += 1) {
      image.data.set([...colourAt(i), 255], 4 * i);
    }
    context.putImageData(image, 0, 0);
  };
  const paintPictures = () => {
    const mix = mixer();
    for (const canvas of document.querySelectorAll("canvas.picture")) {
      const [kind, encoded] = data.pictures[Number(canvas.dataset.picture)];
      const bytes = Uint8Array.from(atob(encoded), (c) => c.charCodeAt(0));
      const signed = new Int8Array(bytes.buffer);
      paint(canvas, kind === "grey" ? (i) => [bytes[i], bytes[i], bytes[i]] : (i) => mix(signed[i] / 127));
    }
    for (const canvas of document.querySelectorAll("canvas.scale")) {
      paint(canvas, (i) => mix((2 * i) / (canvas.width - 1) - 1));
    }
  };

  // The looks of the palette: colour, dash and symbol by plotly's names.
  const SYMBOLS = ["circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "x", "star"];
  const dashed = (pattern) => (pattern ? pattern.replace(/\d+/g, "$&px") : "solid");
  const looks = data.looks.map(([colour, dash, marker]) => [colour, dashed(dash), SYMBOLS[marker]]);

  // What all charts share: transparent, little margin, the legend below the axis.
  const named = (text) => ({ title: { text }, automargin: true, zeroline: false });
  const base = (x, y) => ({
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    margin: { l: 56, r: 12, t: 12, b: 48 },
    legend: { orientation: "h", x: 0 },
    hovermode: "closest",
    xaxis: named(x),
    yaxis: named(y),
  });

  // Charts of lines: their values are those of crates/menet-lab/src/charts/lines.rs.
  const ROUND = Array.from({ length: 9 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();
  // A little beyond the ends, where marks would be cut.
  const reach = ([low, high]) => [low - 0.012 * (high - low), high + 0.012 * (high - low)];
  const axisOf = ({ label, limits, log, step }) => ({
    ...named(label),
    ...(limits ? { range: log ? limits.map(Math.log10) : reach(limits) } : {}),
    // Left to itself, plotly writes 2 for 20.
    ...(log ? { type: "log", tickmode: "array", tickvals: ROUND, ticktext: ROUND.map(String) } : {}),
    ...(step ? { dtick: step } : {}),
  });
  const short = (value) => String(Number(value.toPrecision(3)));
  const tracesOf = (series) => {
    const { name, colour, faint, width, dash, size, marker, points, ends, band, columns } = series;
    const [x, y] = [0, 1].map((k) => points.map((point) => point[k]));
    const group = { type: "scatter", x, legendgroup: plain(name) };
    const edge = (k) => ({ ...group, mode: "lines", y: ends.map((end) => end[k]), line: { width: 0 }, showlegend: false, hoverinfo: "skip" });
    const mode = [width || columns ? "lines" : "", size ? "markers" : ""].filter((part) => part).join("+");
    const line = {
      ...group,
      y,
      mode,
      name: plain(name),
      showlegend: name !== "",
      opacity: faint ? 0.4 : 1,
      line: { color: colour, width: columns ? 1 : width, dash: dashed(dash), shape: columns ? "hv" : "linear" },
      marker: { color: colour, size: 1.8 * size, symbol: SYMBOLS[marker] },
      text: ends.map(([low, high]) => (low < high ? ` (${short(low)} to ${short(high)})` : "")),
      hovertemplate: `%{x:.4~g}: %{y:.4~g}%{text}${name ? "" : "<extra></extra>"}`,
      ...(columns ? { fill: "tozeroy", fillcolor: `${colour}66` } : {}),
    };
    if (!ends.length || ends.every(([low, high]) => low === high)) return [line];
    if (band) return [edge(0), { ...edge(1), fill: "tonexty", fillcolor: `${colour}22` }, line];
    const apart = (k) => ends.map((end, i) => Math.abs(end[k] - y[i]));
    return [{ ...line, error_y: { type: "data", symmetric: false, array: apart(1), arrayminus: apart(0), color: colour } }];
  };
  const across = ({ at, colour, dash }) => ({
    ...{ type: "line", yref: "paper", y0: 0, y1: 1, x0: at, x1: at },
    line: { color: colour, width: dash ? 1.2 : 3, dash: dashed(dash) },
  });
  const lines = (id, { x, y, series, uprights }) => {
    const note = ({ name, at }, i) => {
      const right = x.limits && at > (x.limits[0] + x.limits[1]) / 2;
      const side = { xanchor: right ? "right" : "left", xshift: right ? -6 : 6, showarrow: false };
      return { x: at, y: 1 - 0.1 * i, yref: "paper", text: plain(name), ...side };
    };
    const traces = series.map(tracesOf);
    // Bands below all else.
    const sorted = [...traces.flatMap((some) => some.slice(0, -1)), ...traces.map((some) => some[some.length - 1])];
    const layout = { ...base(), xaxis: axisOf(x), yaxis: axisOf(y), showlegend: series.length > 1 };
    layout.legend = { ...layout.legend, traceorder: "normal" };
    draw(id, sorted, { ...layout, shapes: uprights.map(across), annotations: uprights.map(note) });
  };
  const boxes = (id, { dimensions, methods, limits }) => {
    const traces = methods.map(({ name, colour, rates }) => ({
      type: "box",
      x: rates.flatMap((some, d) => some.map(() => String(dimensions[d]))),
      y: rates.flat(),
      name: plain(name),
      line: { color: colour, width: 1.5 },
      fillcolor: `${colour}44`,
      marker: { color: colour, size: 4 },
      boxpoints: "all",
      jitter: 0,
      pointpos: 0,
      // As in the static figure for the paper's five repeats.
      quartilemethod: "inclusive",
    }));
    const layout = base("dimension of the projected space", "recognition rate (%)");
    const xaxis = { ...layout.xaxis, type: "category", categoryarray: dimensions.map(String) };
    draw(id, traces, { ...layout, xaxis, yaxis: { ...layout.yaxis, range: limits }, boxmode: "group" });
  };
  const comparison = (id, { chance, limits, methods }) => {
    const traces = methods.map(({ name, mean, ends, text }, row) => {
      const [color, , symbol] = looks[row % looks.length];
      const bars = { type: "data", symmetric: false, array: [ends[1] - mean], arrayminus: [mean - ends[0]] };
      return {
        type: "scatter",
        mode: "markers",
        x: [mean],
        y: [row],
        error_x: { ...bars, color, thickness: 2, width: 6 },
        marker: { color, size: 11, symbol },
        hovertemplate: `${plain(name)}: ${text}<extra></extra>`,
      };
    });
    const layout = { ...base("balanced accuracy", ""), showlegend: false };
    const xaxis = { ...layout.xaxis, range: reach(limits), tickformat: ".0%" };
    const ticks = { tickmode: "array", tickvals: methods.map((_, row) => row), ticktext: methods.map(({ name }) => plain(name)) };
    const yaxis = { ...layout.yaxis, ...ticks, range: [methods.length - 0.5, -0.5] };
    draw(id, traces, { ...layout, xaxis, yaxis, shapes: [across({ at: chance, colour: "#808080", dash: "2,3" })] });
  };
  const kinds = { lines, boxes, comparison };
  const drawCharts = () => {
    for (const [id, chart] of Object.entries(data.charts))
      for (const [kind, value] of Object.entries(chart)) kinds[kind](id, value);
  };

  // Whoever has drawn something says here how to draw it again when the colour scheme changes.
  const drawn = [];
  dark.addEventListener("change", () => drawn.forEach((again) => again()));
  const follow = (again) => drawn.push(again);
  const show = (act) => {
    act();
    follow(act);
  };
  show(paintPictures);
  show(drawCharts);
  return { data, looks, base, byId, css, plain, cut, twin, draw, mixer, follow, show };
})();
