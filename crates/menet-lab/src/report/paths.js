// Paths: what a set's column looks like at a knot, as chart, picture and bars. A path is [variable, knot from which
// coefficients are listed, coefficients].
"use strict";
const paths = (() => {
  const { data, looks, base, css, plain, twin, draw, mixer } = report;
  const sets = data.explorer;
  const nameOf = (set, v) => {
    const { names, shape, variables } = set;
    if (names) return names[v];
    return `row ${Math.floor(variables[v] / shape[1]) + 1}, column ${(variables[v] % shape[1]) + 1}`;
  };
  const short = (value, digits = 4) => {
    if (value === null) return "–";
    const size = Math.abs(value);
    const text = size === 0 || (size >= 0.001 && size < 1e5) ? String(Number(value.toPrecision(digits))) : value.toExponential(2);
    return text.replace("-", "−");
  };
  const looked = (place) => place >= 0 && place < looks.length;
  const lookOf = (place) => (looked(place) ? looks[place] : ["#9a9a9a", "solid"]);
  // The colour of a variable in a column: its own if it was among the first to enter.
  const colourOf = (column, v) => {
    const place = column.paths.findIndex(([other]) => other === v);
    return looked(place) ? twin(lookOf(place)[0]) : css("--mark");
  };
  // [variable, coefficient] of all that is not zero at a knot, in order of entry.
  const activeAt = (column, knot) =>
    column.paths
      .map(([v, from, coefficients]) => [v, knot < from ? 0 : coefficients[knot - from]])
      .filter(([, coefficient]) => coefficient);

  // The chart of a column's paths, with a mark at a knot if one is given.
  const mark = (column, knot) => {
    const x = column.norms[knot];
    const line = { color: css("--ink"), width: 1.5, dash: "dot" };
    return [{ type: "line", x0: x, x1: x, y0: 0, y1: 1, yref: "paper", line }];
  };
  const chart = (id, set, column, knot) => {
    const traces = column.paths.map(([v, from, coefficients], place) => {
      const [color, dash] = lookOf(place);
      return {
        type: "scatter",
        mode: "lines",
        x: column.norms.slice(from),
        y: coefficients,
        name: plain(`${place + 1}. ${nameOf(set, v)}`),
        showlegend: looked(place),
        line: { color, dash, width: looked(place) ? 2.5 : 1 },
        opacity: looked(place) ? 1 : 0.45,
        hovertemplate: "ℓ1 norm %{x:.4g}: %{y:.4g}",
      };
    });
    // The named lines above the others.
    traces.reverse();
    const layout = base("ℓ1 norm of the coefficients", `coefficient (${set.scale})`);
    const legend = { ...layout.legend, traceorder: "reversed" };
    const shapes = knot === undefined ? [] : mark(column, knot);
    draw(id, traces, { ...layout, legend, shapes });
  };

  // The axis at a knot as a picture, some variables with a ring and some with a cross.
  const picture = (canvas, set, active, rings, crosses, colour) => {
    const [height, width] = set.shape;
    const scale = Math.max(1, Math.floor(400 / Math.max(height, width)));
    const weights = active.map(([v, coefficient]) => [set.variables[v], coefficient * set.units[v]]);
    const largest = weights.reduce((most, [, weight]) => Math.max(most, Math.abs(weight)), 0);
    canvas.width = width * scale;
    canvas.height = height * scale;
    const context = canvas.getContext("2d");
    context.fillStyle = css("--zero");
    context.fillRect(0, 0, canvas.width, canvas.height);
    const mix = mixer();
    for (const [j, weight] of weights) {
      const strength = Math.sign(weight) * Math.sqrt(Math.abs(weight) / largest);
      context.fillStyle = `rgb(${mix(strength).join(" ")})`;
      context.fillRect((j % width) * scale, Math.floor(j / width) * scale, scale, scale);
    }
    const centre = (v) => [(set.variables[v] % width) + 0.5, Math.floor(set.variables[v] / width) + 0.5].map((at) => at * scale);
    for (const v of crosses) {
      const [[x, y], arm] = [centre(v), Math.max(4, 0.5 * scale)];
      context.strokeStyle = colour(v);
      context.lineWidth = 2;
      context.beginPath();
      context.moveTo(x - arm, y - arm);
      context.lineTo(x + arm, y + arm);
      context.moveTo(x - arm, y + arm);
      context.lineTo(x + arm, y - arm);
      context.stroke();
    }
    for (const v of rings) {
      context.strokeStyle = colour(v);
      context.lineWidth = 4;
      context.beginPath();
      context.arc(...centre(v), Math.max(10, 1.3 * scale), 0, 2 * Math.PI);
      context.stroke();
    }
    canvas.setAttribute("aria-label", `The axis as an image: ${active.length} of ${height * width} pixels count`);
  };

  // Coefficients as bars; a variable that `coloured` gives a colour is set in it.
  const bars = (list, set, active, coloured) => {
    const largest = active.reduce((most, [, coefficient]) => Math.max(most, Math.abs(coefficient)), 0) || 1;
    const span = (kind, text) => {
      const out = document.createElement("span");
      out.className = kind;
      out.textContent = text;
      return out;
    };
    list.replaceChildren(
      ...active.map(([v, coefficient]) => {
        const item = document.createElement("li");
        const name = span("name", nameOf(set, v));
        name.title = nameOf(set, v);
        const bar = span(coefficient < 0 ? "against" : "for", "");
        const share = (Math.abs(coefficient) / largest) * 50;
        bar.style.left = `${coefficient < 0 ? 50 - share : 50}%`;
        bar.style.width = `${share}%`;
        const colour = coloured(v);
        if (colour) {
          item.className = "new";
          name.style.color = colour;
          bar.style.background = colour;
        }
        const track = span("track", "");
        track.append(bar);
        item.append(name, track, span("value", short(coefficient, 3)));
        return item;
      }),
    );
  };

  // The first variables that entered a column, each with the axis at the end of the step that its entry begins.
  const entries = (box, set, column) => {
    const cells = column.paths.slice(0, looks.length).map(([v], place) => {
      const entered = column.entered.findIndex((list) => list.includes(v));
      const active = activeAt(column, Math.min(entered + 1, column.norms.length - 1));
      const cell = document.createElement("div");
      const title = document.createElement("strong");
      const colour = twin(lookOf(place)[0]);
      title.textContent = `${place + 1}. ${nameOf(set, v)}`;
      title.title = title.textContent;
      title.style.color = colour;
      const shown = document.createElement(set.shape ? "canvas" : "ul");
      if (set.shape) {
        shown.setAttribute("role", "img");
        const others = active.map(([other]) => other).filter((other) => other !== v);
        picture(shown, set, active, [v], others, () => colour);
      } else {
        shown.className = "bars";
        bars(shown, set, active, (other) => (other === v ? colour : null));
      }
      cell.append(title, shown);
      return cell;
    });
    box.replaceChildren(...cells);
  };

  for (const box of document.querySelectorAll(".entries")) {
    const set = sets[Number(box.dataset.set)];
    report.show(() => {
      chart(`path-${box.dataset.place}`, set, set.columns[0]);
      entries(box, set, set.columns[0]);
    });
  }
  return { sets, nameOf, short, colourOf, lookOf, activeAt, mark, chart, picture, bars };
})();
