// Prints the compressed size of the page, and fails if its scripts exceed the limit. Writes compressed copies next to the
// files, which the server sends unchanged.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const LIMIT = 180_000;
const assets = new URL("../dist/assets/", import.meta.url);

const sizes = readdirSync(assets)
  .filter((name) => /\.(js|css|json)$/.test(name))
  .map((name) => {
    const packed = gzipSync(readFileSync(new URL(name, assets)), { level: 9 });
    writeFileSync(new URL(`${name}.gz`, assets), packed);
    return { name, bytes: packed.length };
  });

for (const { name, bytes } of sizes) console.log(`${(bytes / 1000).toFixed(1).padStart(8)} kB gzip  ${name}`);
const total = sizes.filter(({ name }) => name.endsWith(".js")).reduce((sum, { bytes }) => sum + bytes, 0);
console.log(`JavaScript in all: ${(total / 1000).toFixed(1)} kB gzip of ${LIMIT / 1000} kB`);
if (total > LIMIT) {
  console.error("The page is too heavy.");
  process.exit(1);
}
