// The card is built from its source in ../sdk/react. Its imports are looked up from there, so that folder borrows the
// packages that are installed here: one copy of React, and `npm ci` in this folder is enough.
import { existsSync, lstatSync, symlinkSync, unlinkSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const web = dirname(dirname(fileURLToPath(import.meta.url)));
const card = join(web, "..", "sdk", "react");
const link = join(card, "node_modules");

const isLink = lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
if (isLink && !existsSync(link)) unlinkSync(link);
if (!existsSync(link)) symlinkSync(relative(card, join(web, "node_modules")), link, "junction");
