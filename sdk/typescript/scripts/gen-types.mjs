// Writes the types of the API from docs/openapi.json. With --check, fails if the file differs from them.
import { readFileSync, writeFileSync } from "node:fs";
import openapiTS, { astToString } from "openapi-typescript";

const source = new URL("../../../docs/openapi.json", import.meta.url);
const target = new URL("../src/api/schema.gen.ts", import.meta.url);
const head = "// Generated from docs/openapi.json by `npm run gen` in sdk/typescript. Do not edit.\n\n";

const document = JSON.parse(readFileSync(source, "utf8"));
// Operation ids are left out: they would add a second name for each path.
for (const path of Object.values(document.paths))
  for (const operation of Object.values(path)) delete operation.operationId;

const text = head + astToString(await openapiTS(document, { defaultNonNullable: false, emptyObjectsUnknown: true }));
if (process.argv.includes("--check")) {
  if (readFileSync(target, "utf8") !== text) {
    console.error("src/api/schema.gen.ts does not match docs/openapi.json. Run `npm run gen` in sdk/typescript.");
    process.exit(1);
  }
} else {
  writeFileSync(target, text);
}
