// Who is taken for whom: the heat map of the method that is chosen, one setting after the other.
"use strict";
(() => {
  const { data, byId, css, plain, cut, draw, show } = report;
  const LABELLED = 50;
  const WRITTEN = 12;

  const chart = (i, { classes, tested, cells, legible: places, summary }) => {
    const counts = places.map(() => new Array(places.length).fill(0));
    const z = counts.map((row) => [...row]);
    for (const { class: of, given, count, share } of cells) {
      const [a, b] = [places.indexOf(of), places.indexOf(given)];
      if (a < 0 || b < 0) continue;
      counts[a][b] = count;
      // Blue where the class is found, orange where it is taken for another.
      z[a][b] = Math.sqrt(share) * (a === b ? -1 : 1);
    }
    const told = (n, a, b) => {
      const whole = tested[places[a]];
      const share = whole ? ` (${((100 * n) / whole).toFixed(1)} %)` : "";
      const [of, as] = [a, b].map((at) => plain(classes[places[at]]));
      return a === b ? `${of}: ${n} of ${whole} recognised${share}` : `${of} taken for ${as}: ${n} of ${whole}${share}`;
    };
    const step = Math.ceil(places.length / LABELLED);
    const at = places.map((_, k) => k).filter((k) => k % step === 0);
    const axis = (text) => ({
      title: { text, standoff: 12 },
      tickmode: "array",
      tickvals: at,
      ticktext: at.map((k) => plain(cut(classes[places[k]], 16))),
      tickfont: { size: places.length > 30 ? 9 : 11 },
      automargin: true,
      showgrid: false,
      zeroline: false,
      range: [-0.5, places.length - 0.5],
    });
    const written = places.length <= WRITTEN;
    const trace = {
      type: "heatmap",
      z,
      zmin: -1,
      zmax: 1,
      xgap: 1,
      ygap: 1,
      colorscale: [[0, css("--against")], [0.5, css("--zero")], [1, css("--for")]],
      showscale: false,
      customdata: counts.map((row, a) => row.map((n, b) => told(n, a, b))),
      hovertemplate: "%{customdata}<extra></extra>",
    };
    if (written) {
      trace.text = counts.map((row) => row.map((n) => (n ? String(n) : "")));
      trace.texttemplate = "%{text}";
    }
    const cell = written ? 38 : places.length <= 40 ? 17 : 13;
    const place = byId(`confusion-${i}`);
    place.style.height = `${places.length * cell + 170}px`;
    // On a phone it is wider than the screen and scrolls, rather than too small to read.
    place.style.minWidth = `${places.length * Math.min(cell, 24) + 130}px`;
    place.style.maxWidth = `${Math.max(420, places.length * cell * 1.4 + 170)}px`;
    // Upright where names side by side would overlap.
    const longest = Math.max(...at.map((k) => Math.min(16, classes[places[k]].length)));
    const room = (Math.min(place.clientWidth, parseInt(place.style.maxWidth, 10)) - 150) / places.length;
    const xaxis = { ...axis("given class"), tickangle: places.length > 6 || 7 * longest > room ? -90 : 0 };
    const yaxis = { ...axis("class"), range: [places.length - 0.5, -0.5] };
    draw(`confusion-${i}`, [trace], {
      xaxis,
      yaxis,
      margin: { l: 20, r: 12, t: 12, b: 20 },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: css("--line"),
      hovermode: "closest",
    });
    byId(`confusion-note-${i}`).textContent = summary;
  };

  for (const [i, charts] of Object.entries(data.confusions)) {
    const select = byId(`confusion-method-${i}`);
    select.append(...charts.map(({ method }, k) => new Option(method, k)));
    const act = () => chart(i, charts[Number(select.value)]);
    select.addEventListener("change", act);
    show(act);
  }
})();
