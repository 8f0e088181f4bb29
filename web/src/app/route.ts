import { useSyncExternalStore } from "react";

/** The current page. It is stored in the fragment of the address, so that the server needs only one route. */
export type Route =
  | { page: "inbox"; ask?: string }
  | { page: "sessions" }
  | { page: "session"; id: string; tab: "transcript" | "events" }
  | { page: "runs"; run?: string }
  | { page: "history" }
  | { page: "settings"; section: SettingsSection; rule?: string };

export const SETTINGS = ["policy", "agents", "tokens", "notifications", "page"] as const;
export type SettingsSection = (typeof SETTINGS)[number];

export function readRoute(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [page, first, second] = path.split("/").map(decodeURIComponent);
  switch (page) {
    case "sessions":
      return first
        ? { page: "session", id: first, tab: second === "events" ? "events" : "transcript" }
        : { page: "sessions" };
    case "runs":
      return first ? { page: "runs", run: first } : { page: "runs" };
    case "history":
      return { page: "history" };
    case "settings": {
      const rule = new URLSearchParams(query).get("rule");
      const section = SETTINGS.find((one) => one === first) ?? "policy";
      return rule ? { page: "settings", section, rule } : { page: "settings", section };
    }
    default:
      return first ? { page: "inbox", ask: first } : { page: "inbox" };
  }
}

export function hrefOf(route: Route): string {
  const part = encodeURIComponent;
  switch (route.page) {
    case "inbox":
      return route.ask ? `#/inbox/${part(route.ask)}` : "#/inbox";
    case "session":
      return `#/sessions/${part(route.id)}${route.tab === "events" ? "/events" : ""}`;
    case "runs":
      return route.run ? `#/runs/${part(route.run)}` : "#/runs";
    case "settings":
      return `#/settings/${route.section}${route.rule ? `?rule=${part(route.rule)}` : ""}`;
    case "sessions":
    case "history":
      return `#/${route.page}`;
  }
}

export function go(route: Route, options: { replace?: boolean } = {}): void {
  if (options.replace) {
    history.replaceState(null, "", hrefOf(route));
    window.dispatchEvent(new HashChangeEvent("hashchange"));
  } else location.hash = hrefOf(route);
}

function subscribe(listener: () => void): () => void {
  window.addEventListener("hashchange", listener);
  return () => window.removeEventListener("hashchange", listener);
}

let seen = { hash: "", route: readRoute("") };

function current(): Route {
  if (seen.hash !== location.hash) seen = { hash: location.hash, route: readRoute(location.hash) };
  return seen.route;
}

export const useRoute = (): Route => useSyncExternalStore(subscribe, current);
