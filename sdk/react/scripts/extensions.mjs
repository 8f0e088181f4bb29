// Completes relative imports in `dist` with file names, because Node.js and webpack do not guess them in ES modules. TypeScript
// writes imports as they are in the sources, where they have no extension.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const dist = join(import.meta.dirname, "../dist");

/** Returns the import with its file name. */
function complete(file, path) {
  const target = join(dirname(file), path);
  if (existsSync(`${target}.js`)) return `${path}.js`;
  if (existsSync(join(target, "index.js"))) return `${path}/index.js`;
  return path;
}

for (const name of readdirSync(dist, { recursive: true })) {
  if (!name.endsWith(".js") && !name.endsWith(".d.ts")) continue;
  const file = join(dist, name);
  const text = readFileSync(file, "utf8");
  const completed = text.replace(
    /(\b(?:from|import)[ (]*")(\.\.?\/[^"]+)(?=")/g,
    (_, before, path) => before + complete(file, path),
  );
  if (completed !== text) writeFileSync(file, completed);
}
