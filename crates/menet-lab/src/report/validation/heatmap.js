// Panel × samples in the order of the clustering, with a strip of classes above.
"use strict";
(() => {
  const { data, looks, byId, css, plain, cut, twin, draw, show } = report;
  if (!data.heatmap) return;
  const { classes, heatmap } = data;
  const { variables, samples, steps } = heatmap;
  const LABELLED = 60;
  const bytes = Uint8Array.from(atob(heatmap.levels), (c) => c.charCodeAt(0));
  const levels = new Int8Array(bytes.buffer);
  const z = variables.map((_, k) => Array.from(levels.subarray(k * samples.length, (k + 1) * samples.length), (l) => l / steps));
  const told = (k, i) => `${plain(variables[k])}<br>${plain(samples[i])}, ${plain(classes[heatmap.class[i]])}`;
  const texts = variables.map((_, k) => samples.map((_, i) => told(k, i)));

  show(() => {
    const place = byId("heatmap");
    const cell = variables.length <= LABELLED ? 17 : 7;
    const height = Math.max(variables.length * cell, 60) + 90;
    place.style.height = `${height}px`;
    const strip = 16 / (height - 60);
    const count = classes.length;
    const colour = (k) => twin(looks[k % looks.length][0]);
    const blank = { title: { text: "" }, showgrid: false, zeroline: false, showticklabels: false, ticks: "" };
    const longest = place.clientWidth < 600 ? 12 : 24;
    const labels = { showticklabels: true, tickmode: "array", tickvals: variables.map((_, k) => k), tickfont: { size: 11 } };
    labels.ticktext = variables.map((name) => plain(cut(name, longest)));
    const body = {
      type: "heatmap",
      z,
      zmin: -3,
      zmax: 3,
      colorscale: [[0, css("--against")], [0.5, css("--zero")], [1, css("--for")]],
      showscale: true,
      colorbar: { orientation: "h", y: 0, yanchor: "top", ypad: 18, thickness: 10, len: 0.6, outlinewidth: 0, tickfont: { size: 11 } },
      customdata: texts,
      hovertemplate: "%{customdata}<br>%{z:.1f} sd<extra></extra>",
    };
    const owners = {
      type: "heatmap",
      z: [heatmap.class],
      yaxis: "y2",
      zmin: -0.5,
      zmax: count - 0.5,
      colorscale: classes.flatMap((_, k) => [[k / count, colour(k)], [(k + 1) / count, colour(k)]]),
      showscale: false,
      customdata: [samples.map((name, i) => `${plain(name)}<br>${plain(classes[heatmap.class[i]])}`)],
      hovertemplate: "%{customdata}<extra></extra>",
    };
    draw("heatmap", [body, owners], {
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      margin: { l: 12, r: 12, t: 8, b: 52 },
      hovermode: "closest",
      xaxis: { ...blank, range: [-0.5, samples.length - 0.5] },
      yaxis: {
        ...blank,
        ...(variables.length <= LABELLED ? labels : {}),
        automargin: true,
        range: [variables.length - 0.5, -0.5],
        domain: [0, 1 - strip - 4 / (height - 60)],
      },
      yaxis2: { ...blank, domain: [1 - strip, 1], range: [-0.5, 0.5], fixedrange: true },
    });
  });
})();
