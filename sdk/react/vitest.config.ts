import react from "@vitejs/plugin-react";
import { defaultClientConditions } from "vite";
import { defineConfig } from "vitest/config";

/** Tests in `src` need no server. Tests in `tests` start a real one. */
export default defineConfig({
  plugins: [react()],
  resolve: { conditions: ["@sayso/source", ...defaultClientConditions] },
  test: {
    environment: "happy-dom",
    environmentOptions: {
      happyDOM: { url: "http://localhost:3000", settings: { fetch: { disableSameOriginPolicy: true } } },
    },
    include: ["src/**/*.test.{ts,tsx}", "tests/*.test.{ts,tsx}"],
    setupFiles: ["./tests/setup.ts"],
    restoreMocks: true,
    // Long timeouts, because test machines can be busy.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
