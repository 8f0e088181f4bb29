interface Alias {
  find: string | RegExp;
  replacement: string;
}

export const sources: Alias[];
export function bundle(
  entry: string,
  options?: { alias?: Alias[]; external?: (string | RegExp)[]; define?: Record<string, string> },
): Promise<Map<string, string>>;
