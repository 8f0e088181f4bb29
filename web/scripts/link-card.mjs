// The card and the client are built from their sources in ../sdk. Their imports are looked up from there, so those folders
// borrow the packages that are installed here: one copy of React, and `npm ci` in this folder is enough.
import { existsSync, lstatSync, symlinkSync, unlinkSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const web = dirname(dirname(fileURLToPath(import.meta.url)));
for (const name of ["react", "typescript"]) {
  const folder = join(web, "..", "sdk", name);
  const link = join(folder, "node_modules");
  const isLink = lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
  if (isLink && !existsSync(link)) unlinkSync(link);
  if (!existsSync(link)) symlinkSync(relative(folder, join(web, "node_modules")), link, "junction");
}
