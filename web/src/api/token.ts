import type { Token } from "./client";

/** The token of this browser, stored until it is revoked or the person signs out. */
export interface Identity {
  token: string;
  tokenId: string;
  /** The role of the token. The page hides other actions, and the server refuses them. */
  role: Token["role"];
}

const KEY = "sayso.identity";

export function readIdentity(): Identity | undefined {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "null") as Partial<Identity> | null;
    if (!kept?.token || !kept.tokenId) return undefined;
    return { token: kept.token, tokenId: kept.tokenId, role: kept.role ?? "admin" };
  } catch {
    return undefined;
  }
}

export function keepIdentity(identity: Identity): void {
  localStorage.setItem(KEY, JSON.stringify(identity));
}

export function forgetIdentity(): void {
  localStorage.removeItem(KEY);
}

/** Removes the login code from the address, so that it is not stored in the history or shared. */
export function readLoginCode(location: Location, history: History): string | undefined {
  const code = /^#code=([^&]+)/.exec(location.hash)?.[1];
  if (code) history.replaceState(null, "", location.pathname);
  return code && decodeURIComponent(code);
}
