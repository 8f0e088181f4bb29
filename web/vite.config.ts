import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defaultClientConditions } from "vite";
import { defineConfig } from "vitest/config";

const server = process.env.SAYSO_URL ?? "http://127.0.0.1:4517";

/**
 * Keeps only the lexer of `marked`, 3 kB less to load. The package is one module whose instance at the end holds its parser and
 * renderer, so tree shaking keeps all of it. The build fails if another version of `marked` has another shape.
 */
const onlyTheLexer = {
  name: "only-the-lexer",
  apply: "build",
  transform: {
    filter: { id: /\/marked\/lib\/marked\.esm\.js$/ },
    handler(code: string) {
      const lexer = /\b(\w+) as Lexer\b/.exec(code)?.[1];
      const renderer = /var \w+=class\{options;parser;constructor/.exec(code);
      const isBefore = lexer && renderer && code.lastIndexOf(`var ${lexer}=class`, renderer.index) > 0;
      if (!isBefore) throw new Error("marked changed its shape: adapt `onlyTheLexer` in vite.config.ts");
      return { code: `${code.slice(0, renderer.index)}export{${lexer} as Lexer};`, map: null };
    },
  },
} as const;

export default defineConfig({
  plugins: [react(), tailwindcss(), onlyTheLexer],
  // The page is built from the sources of the SDKs, so neither has to be built first.
  resolve: { conditions: ["@sayso/source", ...defaultClientConditions] },
  build: { target: "es2022", modulePreload: { polyfill: false }, assetsInlineLimit: 0, chunkSizeWarningLimit: 400 },
  server: { fs: { allow: [".."] }, proxy: { "/v1": server } },
  test: {
    environment: "happy-dom",
    include: ["src/**/*.test.{ts,tsx}"],
    restoreMocks: true,
    // Long timeouts, because test machines can be busy.
    testTimeout: 60_000,
  },
});
