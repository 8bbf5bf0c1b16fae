// Who is taken for whom: the heat map of the method that is chosen, one setting after the other.
"use strict";
(() => {
  const { data, byId, css, plain, cut, draw, show } = report;
  // More classes than that are no longer legible: those with the most mistakes are shown.
  const MOST = 100;
  const LABELLED = 50;
  const WRITTEN = 12;

  const percent = (part, whole) => `${((100 * part) / whole).toFixed(1)} %`;

  const shownClasses = (count, mistakes) => {
    const all = Array.from({ length: count }, (_, i) => i);
    if (count <= MOST) return all;
    const involved = new Array(count).fill(0);
    for (const [of, as, n] of mistakes) {
      involved[of] += n;
      involved[as] += n;
    }
    return all.sort((a, b) => involved[b] - involved[a] || a - b).slice(0, MOST).sort((a, b) => a - b);
  };

  const words = (classes, { tested, mistakes }, shown) => {
    const whole = tested.reduce((a, b) => a + b, 0);
    const wrong = mistakes.reduce((sum, [, , n]) => sum + n, 0);
    const worst = [...mistakes].sort((a, b) => b[2] - a[2]).slice(0, 3);
    const named = worst.map(([of, as, n]) => `${cut(classes[of], 24)} for ${cut(classes[as], 24)} (${n})`);
    const often = named.length ? ` Most often: ${named.join(", ")}.` : "";
    const part = shown < classes.length ? ` The map shows the ${shown} of ${classes.length} classes with the most mistakes.` : "";
    return `${wrong} of ${whole} test samples (${percent(wrong, whole)}) are taken for another class.${often}${part}`;
  };

  const chart = (i, classes, method) => {
    const { tested, mistakes } = method;
    const places = shownClasses(classes.length, mistakes);
    const placeOf = new Map(places.map((k, at) => [k, at]));
    const counts = places.map(() => new Array(places.length).fill(0));
    const right = [...tested];
    for (const [of, as, n] of mistakes) {
      right[of] -= n;
      if (placeOf.has(of) && placeOf.has(as)) counts[placeOf.get(of)][placeOf.get(as)] = n;
    }
    places.forEach((k, at) => (counts[at][at] = right[k]));
    // Blue where the class is found, orange where it is taken for another.
    const strength = (n, a, b) => Math.sqrt(n / Math.max(1, tested[places[a]])) * (a === b ? -1 : 1);
    const z = counts.map((row, a) => row.map((n, b) => strength(n, a, b)));
    const told = (n, a, b) => {
      const whole = tested[places[a]];
      const share = whole ? ` (${percent(n, whole)})` : "";
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
    byId(`confusion-note-${i}`).textContent = words(classes, method, places.length);
  };

  for (const [i, { classes, methods }] of Object.entries(data.confusions)) {
    const select = byId(`confusion-method-${i}`);
    select.append(
      ...methods.map(({ name }, k) => {
        const option = document.createElement("option");
        option.value = String(k);
        option.textContent = name;
        return option;
      }),
    );
    const act = () => chart(i, classes, methods[Number(select.value)]);
    select.addEventListener("change", act);
    show(act);
  }
})();
