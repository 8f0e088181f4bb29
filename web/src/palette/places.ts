import { type Ask, baseName, plain, titleOf } from "@sayso/react";
import type { Run, Session, Token } from "../api/client";
import { hrefOf, type Route, SETTINGS } from "../app/route";
import type { PageKey } from "../i18n";

/** The groups of the palette, in their order. */
export const PLACE_GROUPS = ["asks", "sessions", "runs", "devices", "pages"] as const;
export type PlaceGroup = (typeof PLACE_GROUPS)[number];

/** A target of the palette. Opening it never decides anything. */
export interface Place {
  /** Unique in the list. */
  id: string;
  group: PlaceGroup;
  title: string;
  /** Whether the title is code. */
  code?: boolean;
  detail: string;
  target: Route | "new" | "keys";
}

/** The items that the palette searches. */
export interface Searched {
  asks: Ask[];
  sessions: Session[];
  runs: Run[];
  /** The tokens of browsers and phones. Empty without the permission to list them. */
  tokens: Token[];
  mayAnswer: boolean;
  isAdmin: boolean;
  t: (key: PageKey) => string;
}

const PAGES: [Route, PageKey][] = [
  [{ page: "inbox" }, "nav.inbox"],
  [{ page: "sessions" }, "nav.sessions"],
  [{ page: "runs" }, "nav.runs"],
  [{ page: "history" }, "nav.history"],
];

/** All targets of the palette. */
export function placesOf({ asks, sessions, runs, tokens, mayAnswer, isAdmin, t }: Searched): Place[] {
  const detail = (...parts: (string | null | undefined)[]) => plain(parts.filter(Boolean).join(", "));
  const page = (target: Route, title: string, about = ""): Place => ({
    id: hrefOf(target),
    group: "pages",
    title,
    detail: about,
    target,
  });
  return [
    ...asks.map((ask): Place => {
      const { text, code } = titleOf(ask);
      return {
        id: ask.id,
        group: "asks",
        title: plain(text),
        code,
        detail: detail(ask.agent, baseName(ask.project), ask.branch),
        target: { page: "inbox", ask: ask.id },
      };
    }),
    ...sessions.map(
      (session): Place => ({
        id: session.id,
        group: "sessions",
        title: plain(session.title || session.agent),
        detail: detail(session.agent, baseName(session.cwd), session.branch),
        target: { page: "session", id: session.id, tab: "transcript" },
      }),
    ),
    ...runs.map(
      (run): Place => ({
        id: run.id,
        group: "runs",
        title: plain(run.workflow),
        detail: t(`runStatus.${run.status}`),
        target: { page: "runs", run: run.id },
      }),
    ),
    ...tokens
      .filter((token) => token.device && !token.revokedAt)
      .map(
        (token): Place => ({
          id: token.id,
          group: "devices",
          title: plain(token.device ?? ""),
          detail: detail(token.actor, t(`role.${token.role}`)),
          target: { page: "settings", section: "tokens" },
        }),
      ),
    ...PAGES.map(([route, words]) => page(route, t(words))),
    ...SETTINGS.filter((section) => isAdmin || section !== "tokens").map((section) =>
      page({ page: "settings", section }, t(`settings.${section}`), t("nav.settings")),
    ),
    ...(mayAnswer
      ? [{ ...page({ page: "sessions" }, t("button.newSession")), id: "new", target: "new" as const }]
      : []),
    { ...page({ page: "inbox" }, t("nav.keys")), id: "keys", target: "keys" },
  ];
}

/** The maximum number of targets per group. Pages and settings have no limit. */
const SHOWN_PER_GROUP = 6;

/** The targets that contain all words of the query, best group first. In a group, titles that start with the query come first. */
export function findPlaces(places: Place[], query: string): Place[] {
  const wanted = query.trim().toLowerCase();
  const words = wanted.split(/\s+/);
  const found = places.filter(({ title, detail }) => {
    const text = `${title} ${detail}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const rank = ({ title }: Place) => {
    const at = title.toLowerCase().indexOf(wanted);
    return at === 0 ? 0 : at > 0 ? 1 : 2;
  };
  return PLACE_GROUPS.flatMap((group) => {
    const inGroup = found.filter((place) => place.group === group);
    const limit = group === "pages" ? inGroup.length : SHOWN_PER_GROUP;
    return inGroup.sort((a, b) => rank(a) - rank(b)).slice(0, limit);
  });
}
