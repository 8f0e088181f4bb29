import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defaultClientConditions, type Plugin } from "vite";
import { defineConfig } from "vitest/config";

const server = process.env.SAYSO_URL ?? "http://127.0.0.1:4517";

/**
 * Leaves only the lexer of `marked` in the build, because the page never renders its HTML. The other exports share a global
 * instance, which tree shaking keeps.
 */
const onlyTheLexer: Plugin = {
  name: "marked-lexer",
  apply: "build",
  transform(code, id) {
    if (!/\/marked\/lib\/marked\.esm\.js/.test(id)) return undefined;
    const lexer = /(\w+) as Lexer\b/.exec(code)?.[1];
    const start = code.search(/var \w+=new \w+;function \w+\(\w+,\w+\)\{return \w+\.parse\(/);
    if (!lexer || start < 0) this.error("marked has another shape now: adapt this plugin");
    return { code: `${code.slice(0, start)}export{${lexer} as Lexer};`, map: null };
  },
};

export default defineConfig({
  plugins: [onlyTheLexer, react(), tailwindcss()],
  // The page is built from the sources of the SDKs, so neither has to be built first.
  resolve: { conditions: ["@sayso/source", ...defaultClientConditions] },
  build: { target: "es2022", modulePreload: { polyfill: false }, assetsInlineLimit: 0, chunkSizeWarningLimit: 400 },
  server: { fs: { allow: [".."] }, proxy: { "/v1": server } },
  test: {
    environment: "happy-dom",
    include: ["src/**/*.test.{ts,tsx}"],
    restoreMocks: true,
    // A busy machine is slow, not wrong.
    testTimeout: 60_000,
  },
});
