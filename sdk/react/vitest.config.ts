import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";
import { sources } from "../typescript/scripts/bundle.mjs";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Tests with the real server. Those without one run with the tests of the page. */
export default defineConfig({
  plugins: [react()],
  server: { fs: { allow: [here("../..")] } },
  resolve: { alias: sources, dedupe: ["react", "react-dom"] },
  test: {
    environment: "happy-dom",
    environmentOptions: {
      happyDOM: { url: "http://localhost:3000", settings: { fetch: { disableSameOriginPolicy: true } } },
    },
    include: [here("tests/**/*.test.tsx")],
    setupFiles: [here("../../web/src/test/setup.ts")],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
