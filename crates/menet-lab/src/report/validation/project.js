// Projects new samples with the final model: scores, class and probabilities, below the field and on the sample map.
"use strict";
(() => {
  const { data, byId } = report;
  document.documentElement.dataset.ready = "yes";
  if (!data.projection) return;
  const { projection, classes, map } = data;
  const { rule } = map.all;
  const message = byId("project-message");
  const place = byId("project-result");

  // z = (x − mean) W, in the order of the core's sums.
  const scoresOf = (values) =>
    projection.axes.map((axis) => axis.reduce((sum, [k, weight]) => sum + (values[k] - projection.means[k]) * weight, 0));
  // Logarithms and scales, as the model was fitted with.
  const prepared = (values) => {
    const k = projection.logs ? values.findIndex((value) => value <= -1) : -1;
    if (k >= 0) throw new Error(`${projection.shown[k]} is ${values[k]}, but the model takes the logarithm of 1 + x: give numbers above −1.`);
    return values.map((value, at) => (projection.logs ? Math.log1p(value) : value) / projection.divisors[at]);
  };
  const projected = ({ name, values }) => {
    const scores = scoresOf(prepared(values));
    if (rule.missing) return { name, scores, class: null, probabilities: [] };
    const { class: chosen, logs } = sampleMap.decide(scores);
    const probabilities = classes.map((_, k) => (rule.classes.includes(k) ? Math.exp(logs[rule.classes.indexOf(k)]) : 0));
    return { name, scores, class: rule.classes[chosen], probabilities };
  };

  const cell = (kind, text, value) => {
    const out = document.createElement(kind);
    out.textContent = text;
    if (value !== undefined) out.dataset.value = String(value);
    return out;
  };
  const short = (value) => String(Number(value.toPrecision(6))).replace("-", "−");
  // Characters that reorder the text around them, or have no picture.
  const tame = (name) => name.replace(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, "\ufffd");
  const line = (cells) => {
    const row = document.createElement("tr");
    row.append(...cells);
    return row;
  };
  const head = (text) => {
    const out = cell("th", text);
    out.scope = "col";
    return out;
  };
  const show = (found) => {
    const table = document.createElement("table");
    const axes = projection.axes.map((_, a) => head(`axis ${a + 1}`));
    const odds = rule.missing ? [] : [head("class"), ...classes.map((name) => head(`p(${report.cut(name, 24)})`))];
    table.createTHead().append(line([head("sample"), ...odds, ...axes]));
    table.createTBody().append(
      ...found.map((sample) => {
        const name = cell("th", sample.name);
        name.scope = "row";
        const decided = rule.missing
          ? []
          : [cell("td", report.cut(classes[sample.class], 40), sample.class), ...sample.probabilities.map((p) => cell("td", p.toFixed(4), p))];
        return line([name, ...decided, ...sample.scores.map((z) => cell("td", short(z), z))]);
      }),
    );
    place.replaceChildren(table);
  };

  const tell = (text, wrong) => {
    message.textContent = text;
    message.classList.toggle("wrong", wrong);
  };
  const clear = () => {
    place.replaceChildren();
    sampleMap.project([]);
  };
  const go = (text) => {
    try {
      const { samples, notes } = reader.read(text, projection);
      const found = samples.map((sample) => projected({ ...sample, name: tame(sample.name) }));
      show(found);
      sampleMap.project(found);
      const missing = rule.missing ? [`no class: ${rule.missing}`] : [];
      const one = found.length === 1;
      const what = one ? "1 sample, a star on the sample map" : `${found.length} samples, stars on the sample map`;
      tell(`${[what, ...notes, ...missing].join("; ")}.`, false);
    } catch (error) {
      clear();
      tell(error.message, true);
    }
  };
  const load = async (file) => {
    if (!file) return;
    try {
      byId("project-text").value = await file.text();
    } catch {
      tell("The file cannot be read.", true);
      return;
    }
    go(byId("project-text").value);
  };

  byId("project-go").addEventListener("click", () => go(byId("project-text").value));
  byId("project-clear").addEventListener("click", () => {
    byId("project-text").value = "";
    byId("project-file").value = "";
    clear();
    tell("", false);
  });
  byId("project-file").addEventListener("change", (event) => load(event.target.files[0]));
  const drop = byId("project-drop");
  const over = (on) => (event) => {
    event.preventDefault();
    drop.classList.toggle("over", on);
  };
  drop.addEventListener("dragover", over(true));
  drop.addEventListener("dragleave", over(false));
  drop.addEventListener("drop", (event) => {
    over(false)(event);
    load(event.dataTransfer.files[0]);
  });
})();
