// @vitest-environment node
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { examples, place, typeErrors } from "../../typescript/tests/docs";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The browser tests run these examples. */
it("type-checks the React examples of the documentation", { timeout: 300_000 }, () => {
  const pages = ["embedding.md", "interactive-tools.md"].flatMap(examples).filter(({ language }) => language === "tsx");
  expect(pages.length).toBeGreaterThan(1);
  const files = pages.map((example) => place(here("../.docs"), example, "tsx"));
  expect(typeErrors(files, here("../tsconfig.json"))).toEqual([]);
});

it("type-checks examples/react", { timeout: 300_000 }, () => {
  expect(typeErrors([here("../../../examples/react/main.tsx")], here("../../../examples/tsconfig.json"))).toEqual([]);
});
