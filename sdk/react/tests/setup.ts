import { cleanup, configure } from "@testing-library/react";
import { afterEach, beforeEach, vi } from "vitest";

// Long timeouts, because test machines can be busy.
configure({ asyncUtilTimeout: 30_000 });

// Reduced motion: jsdom has no layout to animate.
beforeEach(() => {
  vi.stubGlobal("matchMedia", (query: string) => ({ matches: query.includes("reduced-motion") }));
});
afterEach(cleanup);
