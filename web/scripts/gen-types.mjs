// Writes the types of the API from docs/openapi.json, or with --check compares what is there.
import { readFileSync, writeFileSync } from "node:fs";
import openapiTS, { astToString } from "openapi-typescript";

const source = new URL("../../docs/openapi.json", import.meta.url);
const target = new URL("../../sdk/typescript/src/api/schema.gen.ts", import.meta.url);
const head = "// Generated from docs/openapi.json by `npm run gen` in web/. Do not edit.\n\n";

const document = JSON.parse(readFileSync(source, "utf8"));
// The names of operations are of no use here.
for (const path of Object.values(document.paths))
  for (const operation of Object.values(path)) delete operation.operationId;

const text = head + astToString(await openapiTS(document, { defaultNonNullable: false, emptyObjectsUnknown: true }));
if (process.argv.includes("--check")) {
  if (readFileSync(target, "utf8") !== text) {
    console.error(
      "sdk/typescript/src/api/schema.gen.ts is not what docs/openapi.json says. Run `npm run gen` in web/.",
    );
    process.exit(1);
  }
} else {
  writeFileSync(target, text);
}
