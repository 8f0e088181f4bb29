/** Assertions that run in Node.js and in a page. */

/** Fails unless both values are deeply equal. */
export function same(actual: unknown, expected: unknown, what = ""): void {
  const [one, other] = [stable(actual), stable(expected)];
  if (one !== other) throw new Error(`${what}\n     got ${one}\nexpected ${other}`);
}

export function ok(condition: unknown, what: string): asserts condition {
  if (!condition) throw new Error(what);
}

/** The error of this class that the promise rejects with. */
export async function fails<T extends Error>(
  promise: Promise<unknown>,
  kind: abstract new (...args: never[]) => T,
  code: string,
): Promise<T> {
  let result: unknown;
  try {
    result = await promise;
  } catch (error) {
    ok(error instanceof kind, `expected ${kind.name}, got ${String(error)}`);
    same((error as unknown as { code: string }).code, code);
    return error;
  }
  throw new Error(`expected ${kind.name}, got ${stable(result)}`);
}

/** Polls until there is a value. */
export async function until<T>(what: string, look: () => T | undefined | false | Promise<T | undefined | false>) {
  const end = Date.now() + 20_000;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found as T;
    if (Date.now() > end) throw new Error(`in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function stable(value: unknown): string {
  return (
    JSON.stringify(value, (_, inner) =>
      typeof inner === "object" && inner !== null && !Array.isArray(inner)
        ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
        : inner,
    ) ?? String(value)
  );
}
