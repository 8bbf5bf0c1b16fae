// Reads the samples that a reader pastes or drops: lines of numbers, with or without a line of names.
"use strict";
const reader = (() => {
  const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
  // Beyond that the core refuses numbers too.
  const LARGEST = 1e100;
  const MOST = 1000;
  const NAMED = /^(|id|name|sample|sample[ _]?(id|name))$/i;
  const counted = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;
  const quoted = (text) => `“${text.length > 40 ? `${text.slice(0, 39)}…` : text}”`;
  const listed = (names) => names.slice(0, 5).map(quoted).join(", ") + (names.length > 5 ? ` and ${names.length - 5} more` : "");

  // The cells of the text by lines. Quotes protect separators, line breaks and, doubled, themselves.
  const lines = (text, separator) => {
    const out = [];
    let [row, cell, open, wasQuoted] = [[], "", false, false];
    const endCell = () => {
      const value = wasQuoted ? cell : cell.trim();
      // Blanks in a row separate once.
      if (separator !== " " || value !== "" || wasQuoted) row.push(value);
      [cell, wasQuoted] = ["", false];
    };
    const endLine = () => {
      endCell();
      if (row.some((value) => value !== "")) out.push(row);
      row = [];
    };
    for (let i = 0; i < text.length; i += 1) {
      const c = text[i];
      if (open) {
        if (c !== '"') cell += c;
        else if (text[i + 1] === '"') {
          cell += c;
          i += 1;
        } else open = false;
      } else if (c === '"' && cell.trim() === "") [open, wasQuoted, cell] = [true, true, ""];
      else if (c === "\n") endLine();
      else if (c === separator) endCell();
      else if (!(wasQuoted && /\s/.test(c))) cell += c;
    }
    if (open) throw new Error("A quote is opened and never closed.");
    endLine();
    return out;
  };
  const same = (cell, name) => cell === name || cell === name.trim();
  const separatorOf = (text) => {
    const bare = text.replace(/"[^"]*"/g, "");
    return ["\t", ";", ","].find((c) => bare.includes(c)) ?? " ";
  };
  const numberOf = (cell, place) => {
    const value = NUMBER.test(cell) ? Number(cell) : NaN;
    if (Number.isFinite(value) && Math.abs(value) <= LARGEST) return value;
    if (cell === "" || /^(na|nan|null|none|\?)$/i.test(cell)) throw new Error(`${place} is missing; the model needs a number there.`);
    const why = NUMBER.test(cell) ? "is too large" : "is not a number";
    const comma = /^[+-]?\d+,\d+$/.test(cell) ? " Write decimals with a point." : "";
    throw new Error(`${place}, ${quoted(cell)}, ${why}.${comma}`);
  };

  // { samples: [{ name, values }], notes }; values of the panel's variables in their order. `projection` is the page's.
  const read = (text, projection) => {
    const { variables, names, shown, all } = projection;
    const clean = text.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n");
    const table = lines(clean, separatorOf(clean));
    if (!table.length) throw new Error("There is nothing to project: paste a line of numbers first.");
    const first = table[0];
    const places = names && names.map((name) => first.findIndex((cell) => same(cell, name)));
    const isHeader = first.some((cell) => cell !== "" && !NUMBER.test(cell)) || (table.length > 1 && names && places.every((at) => at >= 0));
    const notes = [];
    let label = -1;
    let columns = variables;
    if (isHeader) {
      if (!names) {
        const wrong = first.find((cell) => !NUMBER.test(cell));
        throw new Error(`${quoted(wrong)} is not a number. The variables of this model have no names: paste ${all} numbers per line, without a header.`);
      }
      const missing = shown.filter((_, k) => places[k] < 0);
      if (missing.length === names.length && table.length === 1)
        throw new Error(`${quoted(first.find((cell) => !NUMBER.test(cell)))} is not a number, and the line has no name of the panel.`);
      if (missing.length)
        throw new Error(`${counted(missing.length, "variable")} of the panel ${missing.length === 1 ? "is" : "are"} missing among the names in line 1: ${listed(missing)}.`);
      const twice = shown.filter((_, k) => first.findLastIndex((cell) => same(cell, names[k])) !== places[k]);
      if (twice.length) throw new Error(`Names in line 1 occur more than once: ${listed(twice)}.`);
      if (table.length === 1) throw new Error("Line 1 has names; numbers must follow in line 2.");
      columns = places;
      label = first.findIndex((cell) => NAMED.test(cell));
      const ignored = first.length - names.length - (label >= 0 ? 1 : 0);
      if (ignored > 0) notes.push(`${counted(ignored, "column")} that the model does not use ${ignored === 1 ? "is" : "are"} ignored`);
    }
    const rows = isHeader ? table.slice(1) : table;
    if (rows.length > MOST) throw new Error(`There are ${rows.length} samples; this page projects ${MOST} at a time. Use menet predict for more.`);
    const width = isHeader ? first.length : all;
    const samples = rows.map((row, i) => {
      const line = i + 1 + (isHeader ? 1 : 0);
      if (row.length !== width) {
        const why = isHeader ? `line 1 has ${counted(width, "name")}` : `the model has ${counted(all, "variable")}`;
        const hint = isHeader || !names ? "" : " To give only the panel, put its names into the first line.";
        throw new Error(`Line ${line} has ${counted(row.length, "value")}, but ${why}.${hint}`);
      }
      // Every number of a line without names is looked at: a text among them means that columns have moved.
      if (!isHeader) row.forEach((cell, j) => numberOf(cell, `Value ${j + 1} of line ${line}`));
      const values = columns.map((at, k) => numberOf(row[at], `The value of ${quoted(shown[k])} in line ${line}`));
      return { name: label >= 0 && row[label] ? row[label] : `new sample ${i + 1}`, values };
    });
    return { samples, notes };
  };
  return { read };
})();
