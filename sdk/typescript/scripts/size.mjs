// Prints what the package weighs in a page, bundled and compressed, and fails when that is more than it may.
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { bundle } from "./bundle.mjs";

const LIMIT = 12_000;
const files = await bundle(fileURLToPath(new URL("../dist/index.js", import.meta.url)));
const bytes = [...files.values()].reduce((sum, code) => sum + gzipSync(code, { level: 9 }).length, 0);

console.log(`@sayso/sdk: ${(bytes / 1000).toFixed(1)} kB gzip of ${LIMIT / 1000} kB`);
if (bytes > LIMIT) {
  console.error("The package is too heavy.");
  process.exit(1);
}
