// The panel's table: sorted by its headers, searched, saved as CSV. And the button that copies what was done.
"use strict";
(() => {
  const { data, byId } = report;
  const panel = data.panel || [];

  // A spreadsheet computes what begins with =, +, -, @ or a tab. A name like that gets a ' in front, as OWASP advises; a number does not.
  const safe = (name) => (/^[=+\-@\t\r]/.test(name) && !/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(name) ? `'${name}` : name);
  const quoted = (text) => `"${safe(text).replace(/"/g, '""')}"`;
  const number = (value) => (value === null ? "" : String(value));
  const csv = () => {
    const axes = panel.reduce((most, row) => Math.max(most, row.weights.length), 0);
    const weights = Array.from({ length: axes }, (_, a) => `weight_${a + 1}`);
    const means = (data.panelClasses || []).map((name) => quoted(`mean:${name}`));
    const first = ["variable", "name", "frequency", "folds", "entered", ...weights, "deviation", "effect"];
    const header = [...first, "higher_in", "class", "stable", ...means];
    const line = (row) => [
      String(row.variable),
      quoted(row.name),
      number(row.frequency),
      number(row.folds),
      number(row.entered),
      ...weights.map((_, a) => number(row.weights[a] ?? 0)),
      number(row.deviation),
      number(row.effect),
      row.higher === null ? "" : quoted(row.higher),
      row.class === null ? "" : quoted(row.class),
      row.stable ? "1" : "0",
      ...means.map((_, c) => number(row.means[c] ?? null)),
    ];
    return [header, ...panel.map(line)].map((cells) => `${cells.join(",")}\r\n`).join("");
  };
  const save = () => {
    // With a byte order mark, by which Excel recognises UTF-8.
    const blob = new Blob(["\ufeff", csv()], { type: "text/csv" });
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = "panel.csv";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  };

  if (panel.length) {
    const body = byId("panel-table").tBodies[0];
    const rows = [...body.rows];
    const heads = [...byId("panel-table").querySelectorAll("th[aria-sort]")];
    const collator = new Intl.Collator("en", { numeric: true });
    const of = (row) => panel[Number(row.dataset.row)];
    // Texts rise first, numbers fall first; what is not known comes last.
    const sort = (head) => {
      const { key } = head.firstElementChild.dataset;
      const value = (row) => (key === "effect" && of(row).effect !== null ? Math.abs(of(row).effect) : of(row)[key]);
      const text = key === "called" || key === "class" || key === "higher";
      const first = text || key === "entered" ? "ascending" : "descending";
      const other = first === "ascending" ? "descending" : "ascending";
      const order = head.getAttribute("aria-sort") === first ? other : first;
      const sign = order === "ascending" ? 1 : -1;
      const compare = (a, b) => {
        const [x, y] = [value(a), value(b)];
        if (x === null || y === null) return (x === null) - (y === null);
        return sign * (text ? collator.compare(x, y) : x - y);
      };
      body.append(...rows.sort((a, b) => compare(a, b) || Number(a.dataset.row) - Number(b.dataset.row)));
      heads.forEach((h) => h.setAttribute("aria-sort", h === head ? order : "none"));
    };
    const search = () => {
      const wanted = byId("panel-search").value.trim().toLowerCase();
      const texts = (row) => [of(row).called, of(row).higher ?? "", of(row).class ?? ""];
      const found = (row) => texts(row).some((text) => text.toLowerCase().includes(wanted));
      rows.forEach((row) => (row.hidden = wanted !== "" && !found(row)));
      const left = rows.filter((row) => !row.hidden).length;
      byId("panel-count").textContent = wanted === "" ? "" : `${left} of ${rows.length} variables`;
    };
    heads.forEach((head) => head.firstElementChild.addEventListener("click", () => sort(head)));
    byId("panel-search").addEventListener("input", search);
    byId("panel-save").addEventListener("click", save);
  }

  byId("words-copy").addEventListener("click", async () => {
    const text = [...byId("words").querySelectorAll("p")].map((p) => p.textContent).join("\n\n");
    const tell = (words) => (byId("words-copied").textContent = words);
    try {
      await navigator.clipboard.writeText(text);
      tell("Copied.");
    } catch {
      // Some browsers give files no clipboard; what is selected can be copied by hand.
      getSelection().selectAllChildren(byId("words"));
      tell(document.execCommand("copy") ? "Copied." : "The text is selected: copy it with Ctrl+C.");
    }
  });
})();
