import { askChange, type Connection, type FeedEvent, type Sayso } from "@sayso/sdk";
import { useMemo, useSyncExternalStore } from "react";
import type { Ask } from "./api";
import { useHost } from "./host";

/** Options of {@link useAsks}. */
export interface UseAsksOptions {
  /** Only asks of this session. */
  session?: string;
  /** Keep asks that are decided while they are shown, with their outcome. */
  keep?: boolean;
}

/** The result of {@link useAsks}. */
export interface AsksView {
  /** Oldest first. */
  asks: Ask[];
  /** Whether the asks that were pending at the start have been loaded. */
  loaded: boolean;
  /** The state of the connection to the server. */
  connection: Connection;
}

/** The pending asks, updated live. */
export function useAsks({ session, keep = false }: UseAsksOptions = {}): AsksView {
  const { client } = useHost();
  if (!client) throw new Error("useAsks needs a SaysoProvider with a `client`");
  const store = useMemo(() => new LiveAsks(client, session, keep), [client, session, keep]);
  return useSyncExternalStore(store.subscribe, store.get, store.get);
}

/** The state of {@link useAsks}. Its identity changes only when its content changes. */
class LiveAsks {
  readonly #shown = new Set<string>();
  readonly #decided = new Map<string, Ask>();
  #view: AsksView = { asks: [], loaded: false, connection: { state: "closed" } };

  constructor(
    private readonly client: Sayso,
    private readonly session: string | undefined,
    private readonly keep: boolean,
  ) {}

  get = (): AsksView => this.#view;

  subscribe = (listener: () => void): (() => void) => {
    const update = () => {
      this.#view = this.#read();
      listener();
    };
    const leave = [this.client.live.onChange(update)];
    if (this.keep) leave.push(this.client.on("*", (event) => this.#hear(event) && update()));
    update();
    return () => {
      for (const one of leave) one();
    };
  };

  #read(): AsksView {
    const { live } = this.client;
    const pending = [...live.pending().values()].filter(this.#wanted);
    const decided = [...this.#decided.values()].filter(({ id }) => !live.pending().has(id));
    const asks = [...pending, ...decided].sort((a, b) => compare(a.openedAt, b.openedAt) || compare(a.id, b.id));
    return { asks, loaded: live.loaded(), connection: live.connection() };
  }

  /** Keeps asks that were shown and are decided now. */
  #hear(event: FeedEvent): boolean {
    const change = askChange(event);
    if (change?.kind === "resolved") {
      const shown = this.#shown.has(change.ask.id);
      if (shown) this.#decided.set(change.ask.id, change.ask);
      return shown;
    }
    if (change?.kind === "updated") {
      const before = this.#decided.get(change.fields.id);
      if (before) this.#decided.set(before.id, { ...before, ...change.fields });
      return before !== undefined;
    }
    return false;
  }

  readonly #wanted = (ask: Ask): boolean => {
    const wanted = this.session === undefined || ask.sessionId === this.session;
    if (wanted && this.keep) this.#shown.add(ask.id);
    return wanted;
  };
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
