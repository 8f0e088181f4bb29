import AxeBuilder from "@axe-core/playwright";
import { expect, type Page } from "@playwright/test";

const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** The screens on which every view is checked. */
export const LOOKS = (["light", "dark"] as const).flatMap((colorScheme) => [
  { colorScheme, viewport: { width: 1440, height: 900 } },
  { colorScheme, viewport: { width: 1024, height: 768 } },
  { colorScheme, viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
]);

/** Expects no violation of WCAG 2.2 AA and of best practice on the page, or on a part of it. */
export async function axe(page: Page, where: string, part?: string): Promise<void> {
  const builder = new AxeBuilder({ page }).withTags(RULES);
  const { violations } = await (part ? builder.include(part) : builder).analyze();
  const found = violations.map(({ id, nodes }) => ({
    id,
    where,
    nodes: nodes.slice(0, 3).map((node) => node.html.slice(0, 160)),
  }));
  expect.soft(found).toEqual([]);
}
