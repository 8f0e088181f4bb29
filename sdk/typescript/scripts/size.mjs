// Prints the bundled and compressed size of the package, and fails if it exceeds the limit.
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
