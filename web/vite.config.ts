import { fileURLToPath } from "node:url";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const server = process.env.SAYSO_URL ?? "http://127.0.0.1:4517";

export default defineConfig({
  plugins: [react(), tailwindcss()],
  resolve: {
    alias: [
      { find: /^@sayso\/sdk$/, replacement: here("../sdk/typescript/src/index.ts") },
      { find: /^@sayso\/react$/, replacement: here("../sdk/react/src/index.ts") },
      { find: /^@sayso\/react\/(.*\.(css|json)(\?url)?)$/, replacement: here("../sdk/react/src/$1") },
    ],
    dedupe: ["react", "react-dom"],
  },
  build: { target: "es2022", modulePreload: { polyfill: false }, assetsInlineLimit: 0, chunkSizeWarningLimit: 400 },
  server: { fs: { allow: [here("..")] }, proxy: { "/v1": server } },
  test: {
    environment: "happy-dom",
    include: [here("src/**/*.test.{ts,tsx}"), here("../sdk/react/src/**/*.test.{ts,tsx}")],
    setupFiles: [here("src/test/setup.ts")],
    restoreMocks: true,
    // A busy machine is slow, not wrong.
    testTimeout: 60_000,
  },
});
