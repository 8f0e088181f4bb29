// Prints what the page weighs, compressed, and fails when its scripts weigh more than they may.
import { readdirSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const LIMIT = 180_000;
const assets = new URL("../dist/assets/", import.meta.url);
const weigh = (kind) =>
  readdirSync(assets)
    .filter((name) => name.endsWith(kind))
    .map((name) => ({ name, bytes: gzipSync(readFileSync(new URL(name, assets)), { level: 9 }).length }));

const scripts = weigh(".js");
for (const { name, bytes } of [...scripts, ...weigh(".css")]) console.log(`${(bytes / 1000).toFixed(1).padStart(8)} kB gzip  ${name}`);
const total = scripts.reduce((sum, { bytes }) => sum + bytes, 0);
console.log(`JavaScript in all: ${(total / 1000).toFixed(1)} kB gzip of ${LIMIT / 1000} kB`);
if (total > LIMIT) {
  console.error("The page is too heavy.");
  process.exit(1);
}
