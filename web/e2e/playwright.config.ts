import { existsSync } from "node:fs";
import { defineConfig } from "@playwright/test";

/** Shows notifications. */
const chromium = process.env.CHROMIUM ?? "/usr/bin/chromium";
/** The same browser without windows and notifications. It needs half the processor time, so it runs most tests. */
const HEADLESS_SHELL = "/usr/bin/chromium-headless-shell";
const headless = !process.env.CHROMIUM && existsSync(HEADLESS_SHELL) ? HEADLESS_SHELL : chromium;

/** Flags that prevent background network requests. */
const args = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

const NOTIFICATIONS = /(notify|push)\.spec\.ts$/;

export default defineConfig({
  testDir: ".",
  outputDir: "../test-results",
  workers: 2,
  fullyParallel: true,
  timeout: process.env.SAYSO_JITTER ? 300_000 : 120_000,
  expect: { timeout: 30_000 },
  reporter: [["line"]],
  forbidOnly: Boolean(process.env.CI),
  // Screenshots and benchmarks run only on request.
  ...(process.env.SAYSO_EXTRA ? {} : { grepInvert: /@shots|@demo|@bench/ }),
  use: { viewport: { width: 1440, height: 900 } },
  projects: [
    {
      name: "page",
      testIgnore: NOTIFICATIONS,
      use: { launchOptions: { executablePath: headless, args } },
    },
    {
      name: "notifications",
      testMatch: NOTIFICATIONS,
      use: { launchOptions: { executablePath: chromium, args } },
    },
  ],
});
