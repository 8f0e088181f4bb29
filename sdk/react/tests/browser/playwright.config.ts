import { defineConfig } from "@playwright/test";
import page from "../../../../web/e2e/playwright.config";

/** The same browser as the tests of the page. */
export default defineConfig({ ...page, testDir: ".", outputDir: "../../test-results" });
