import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, it } from "vitest";

const HIDDEN = ts.ModifierFlags.Private | ts.ModifierFlags.Protected | ts.ModifierFlags.Override;

/** The exports of a module, and the members of exported classes and interfaces, that have no documentation comment. */
function undocumented(entry: string): string[] {
  const path = fileURLToPath(new URL(entry, import.meta.url));
  const options = { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler, noLib: true };
  const program = ts.createProgram([path], { ...options, jsx: ts.JsxEmit.ReactJSX, types: [] });
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(path);
  const index = source && checker.getSymbolAtLocation(source);
  if (!index) throw new Error(`${path} exports nothing`);
  const lacks = (symbol: ts.Symbol | undefined) => symbol?.getDocumentationComment(checker).length === 0;
  const found = new Set<string>();
  for (const name of checker.getExportsOfModule(index)) {
    const symbol = name.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(name) : name;
    const declaration = symbol.declarations?.[0];
    const file = declaration?.getSourceFile().fileName ?? "";
    // The types of the API are documented where they are generated from.
    if (!declaration || !/\/sdk\/(typescript|react)\/src\//.test(file) || file.includes("/src/api/")) continue;
    if (lacks(symbol)) found.add(symbol.name);
    if (!ts.isInterfaceDeclaration(declaration) && !ts.isClassDeclaration(declaration)) continue;
    for (const member of declaration.members) {
      if (!member.name || ts.isPrivateIdentifier(member.name)) continue;
      if (ts.getCombinedModifierFlags(member as ts.Declaration) & HIDDEN) continue;
      const own = checker.getSymbolAtLocation(member.name);
      if (lacks(own)) found.add(`${symbol.name}.${own?.name}`);
    }
  }
  return [...found];
}

const ENTRIES = ["index.ts", "agent/index.ts", "ai.ts", "openai-agents.ts"].map((name) => `../src/${name}`);

it.each([...ENTRIES, "../../react/src/index.ts"])("every export of %s is documented", { timeout: 300_000 }, (entry) => {
  expect(undocumented(entry)).toEqual([]);
});
