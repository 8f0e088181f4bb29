export function bundle(
  entry: string,
  options?: { external?: (string | RegExp)[]; define?: Record<string, string> },
): Promise<Map<string, string>>;
