// Removes what an earlier build left, so that a file that is gone from the source is not published.
import { rmSync } from "node:fs";

rmSync(new URL("../dist", import.meta.url), { recursive: true, force: true });
