#!/usr/bin/env bash
# Makes the charting script of the report: plotly.js with the kinds of trace that the report draws (scatter, box, heatmap), in one file,
# and the licences of all that is inside. Needs Node.js and npm. Run it from the root of the repository, then `make browser`.
set -euo pipefail
plotly=3.7.0
esbuild=0.28.2
out=$PWD/crates/menet-lab/src/report/plotly
mkdir -p target/plotly && cd target/plotly

npm init --yes >/dev/null
npm install --ignore-scripts --no-audit --no-fund "plotly.js@$plotly" "esbuild@$esbuild"
cat > entry.js <<'JS'
const Plotly = require("plotly.js/lib/core");
Plotly.register([require("plotly.js/lib/box"), require("plotly.js/lib/heatmap")]);
module.exports = Plotly;
JS
# ASCII, so that the page's encoding does not matter. The style sheet that esbuild writes beside it is for maps, which are not here.
node_modules/.bin/esbuild entry.js --bundle --minify --format=iife --global-name=Plotly --define:global=window \
  --define:define.amd=false --target=es2016 --legal-comments=none --charset=ascii --metafile=meta.json --log-level=warning \
  --banner:js="/* plotly.js v$plotly with scatter, box and heatmap traces; licences: crates/menet-lab/src/report/plotly/LICENSES */" \
  --outfile=plotly.js
gzip -9 --no-name --stdout plotly.js > "$out/plotly.js.gz"

node - > "$out/LICENSES" <<'JS'
const fs = require("fs");
const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//;
const packages = Object.keys(JSON.parse(fs.readFileSync("meta.json")).inputs).map((file) => file.match(name)).filter(Boolean);
for (const folder of [...new Set(packages.map((match) => match[0]))].sort()) {
  const { name, version, license } = JSON.parse(fs.readFileSync(`${folder}package.json`));
  const file = fs.readdirSync(folder).find((file) => /^licen[cs]e/i.test(file));
  console.log(`${"=".repeat(80)}\n${name} ${version} (${license})\n${"=".repeat(80)}`);
  if (file) console.log(`\n${fs.readFileSync(folder + file, "utf8").trim()}\n`);
}
JS
ls -l "$out"
