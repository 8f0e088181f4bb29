// Removes the output of earlier builds, so that files deleted from the source are not published.
import { rmSync } from "node:fs";

rmSync(new URL("../dist", import.meta.url), { recursive: true, force: true });
