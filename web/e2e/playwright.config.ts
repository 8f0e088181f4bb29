import { defineConfig } from "@playwright/test";

/** Debian's Chromium. The flags keep it from calling anybody. */
const args = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export default defineConfig({
  testDir: ".",
  outputDir: "../test-results",
  workers: 2,
  fullyParallel: true,
  timeout: 120_000,
  expect: { timeout: 30_000 },
  reporter: [["line"]],
  forbidOnly: Boolean(process.env.CI),
  // Pictures and figures are taken when somebody asks for them.
  ...(process.env.SAYSO_EXTRA ? {} : { grepInvert: /@shots|@bench/ }),
  use: {
    viewport: { width: 1440, height: 900 },
    launchOptions: { executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args },
  },
});
