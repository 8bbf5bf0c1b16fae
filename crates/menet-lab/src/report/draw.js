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
  const drawCharts = () => {
    for (const [id, chart] of Object.entries(data.charts)) draw(id, chart.data, chart.layout);
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
  return { data, byId, css, plain, cut, twin, draw, mixer, follow, show };
})();
