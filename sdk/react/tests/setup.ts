import { cleanup, configure } from "@testing-library/react";
import { afterEach, beforeEach, vi } from "vitest";

// A busy machine is slow, not wrong.
configure({ asyncUtilTimeout: 30_000 });

// Nothing moves: the document of the tests has no layout to animate.
beforeEach(() => {
  vi.stubGlobal("matchMedia", (query: string) => ({ matches: query.includes("reduced-motion") }));
});
afterEach(cleanup);
