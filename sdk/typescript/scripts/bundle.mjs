// Makes one script of an entry and all that it imports, as a page would load it.
import { fileURLToPath } from "node:url";
import { build } from "vite";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** The sources of both packages, for whoever builds without installing them. */
export const sources = [
  { find: /^@sayso\/sdk$/, replacement: here("../src/index.ts") },
  { find: /^@sayso\/react$/, replacement: here("../../react/src/index.ts") },
  { find: /^@sayso\/react\/(.*\.css)$/, replacement: here("../../react/src/$1") },
];

/** The files of the bundle: one script, and a style sheet if styles are imported. */
export async function bundle(entry, { alias = [], external = [], define = {} } = {}) {
  const { output } = await build({
    configFile: false,
    logLevel: "error",
    root: here(".."),
    define,
    resolve: { alias, dedupe: ["react", "react-dom"] },
    build: {
      write: false,
      target: "es2022",
      minify: true,
      modulePreload: { polyfill: false },
      rolldownOptions: {
        input: entry,
        external,
        preserveEntrySignatures: "strict",
        output: { entryFileNames: "page.js", assetFileNames: "page[extname]", codeSplitting: false },
      },
    },
  });
  return new Map(output.map((file) => [file.fileName, file.type === "chunk" ? file.code : String(file.source)]));
}
