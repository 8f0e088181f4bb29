// Bundles an entry file with its imports into one script, as a page would load it.
import { fileURLToPath } from "node:url";
import { build } from "vite";

/** The files of the bundle: one script, and a style sheet if styles are imported. */
export async function bundle(entry, { external = [], define = {} } = {}) {
  const { output } = await build({
    configFile: false,
    logLevel: "error",
    root: fileURLToPath(new URL("..", import.meta.url)),
    define,
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
