import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defaultClientConditions } from "vite";
import { defineConfig } from "vitest/config";

const server = process.env.SAYSO_URL ?? "http://127.0.0.1:4517";

export default defineConfig({
  plugins: [react(), tailwindcss()],
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
