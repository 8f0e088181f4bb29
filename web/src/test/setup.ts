import { cleanup } from "@testing-library/react";
import { afterEach, beforeEach, vi } from "vitest";

// Nothing moves: the document of the tests has no layout to animate.
beforeEach(() => {
  vi.stubGlobal("matchMedia", (query: string) => ({ matches: query.includes("reduced-motion") }));
});
afterEach(cleanup);
