import { type components, type Decide, DecideError, type Problem } from "@sayso/react";

type Schemas = components["schemas"];
export type Session = Schemas["Session"];
export type AskPage = Schemas["AskPage"];
export type SessionPage = Schemas["SessionPage"];
export type PolicyView = Schemas["PolicyView"];
export type Explained = Schemas["Explained"];
export type Token = Schemas["Token"];
export type Grant = Schemas["Grant"];
export type Agent = Schemas["Agent"];
export type NewSession = Schemas["NewSession"];
export type Run = Schemas["Run"];
export type RunStep = Schemas["RunStep"];

/** An answer of the server that is not a yes. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly problem: Partial<Problem>,
  ) {
    super(problem.detail ?? `HTTP ${status}`);
  }
}

/** A name for one act, so that sending it twice has its effect once. Works without a secure context. */
export function uniqueKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

type Query = Record<string, string | number | boolean | undefined>;

/** The calls of the page. */
export class Client {
  constructor(
    private readonly token: string | undefined,
    private readonly signedOut: () => void = () => {},
  ) {}

  async call<T>(
    method: string,
    path: string,
    body?: unknown,
    options: { keepalive?: boolean; key?: string } = {},
  ): Promise<T> {
    const response = await fetch(`/v1${path}`, {
      method,
      headers: {
        ...this.headers(),
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...(method === "GET" ? {} : { "Idempotency-Key": options.key ?? uniqueKey() }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(options.keepalive ? { keepalive: true } : {}),
    });
    const text = await response.text();
    if (response.ok) return (text === "" ? undefined : JSON.parse(text)) as T;
    if (response.status === 401) this.signedOut();
    throw new ApiError(response.status, problemOf(text));
  }

  headers(): Record<string, string> {
    return { "X-Sayso-Via": "page", ...(this.token ? { Authorization: `Bearer ${this.token}` } : {}) };
  }

  asks = (query: Query) => this.call<AskPage>("GET", `/asks${search(query)}`);
  ask = (id: string) => this.call<Schemas["Ask"]>("GET", `/asks/${id}?raw=true`);
  snooze = (id: string, until: string | null) => this.call<Schemas["Ask"]>("POST", `/asks/${id}/snooze`, { until });
  sessions = (query: Query) => this.call<SessionPage>("GET", `/sessions${search(query)}`);
  session = (id: string) => this.call<Session>("GET", `/sessions/${id}`);
  transcript = (id: string, cursor?: string) =>
    this.call<Schemas["Transcript"]>("GET", `/sessions/${id}/transcript${search({ limit: 500, cursor })}`);
  start = (session: NewSession) => this.call<Session>("POST", "/sessions", session);
  message = (id: string, text: string, ifPending?: "queue") =>
    this.call<Schemas["MessageAccepted"]>(
      "POST",
      `/sessions/${id}/messages`,
      ifPending ? { text, ifPending } : { text },
    );
  interrupt = (id: string) => this.call<Session>("POST", `/sessions/${id}/interrupt`, {});
  resume = (id: string) => this.call<Session>("POST", `/sessions/${id}/resume`, {});
  end = (id: string) => this.call<Session>("DELETE", `/sessions/${id}`);
  runs = (query: Query) => this.call<Schemas["RunPage"]>("GET", `/runs${search(query)}`);
  run = (id: string) => this.call<Run>("GET", `/runs/${id}`);
  cancelRun = (id: string) => this.call<Run>("POST", `/runs/${id}/cancel`, {});
  agents = () => this.call<Schemas["AgentList"]>("GET", "/agents");
  policy = () => this.call<PolicyView>("GET", "/policy");
  savePolicy = (policy: Schemas["SetPolicy"]) => this.call<PolicyView>("PUT", "/policy", policy);
  explain = (request: Schemas["ExplainRequest"]) =>
    this.call<Schemas["Explanation"]>("POST", "/policy/explain", request);
  grant = (grant: Schemas["NewGrant"]) => this.call<Schemas["Grant"]>("POST", "/policy/grants", grant);
  revokeGrant = (id: string) => this.call<void>("DELETE", `/policy/grants/${id}`);
  profile = (profile: Schemas["SetProfile"]) => this.call<PolicyView>("PUT", "/policy/profile", profile);
  tokens = () => this.call<Schemas["TokenList"]>("GET", "/tokens");
  newToken = (token: Schemas["NewToken"]) => this.call<Schemas["CreatedToken"]>("POST", "/tokens", token);
  revoke = (id: string) => this.call<Token>("DELETE", `/tokens/${id}`);
  /** For a phone: it may answer, and nothing more. */
  phoneCode = () => this.call<Schemas["LoginCode"]>("POST", "/login-codes", { role: "answerer" });
  login = (code: string, device: string) => this.call<Schemas["CreatedToken"]>("POST", "/login", { code, device });
}

function search(query: Query): string {
  const entries = Object.entries(query).filter(([, value]) => value !== undefined);
  return entries.length === 0 ? "" : `?${new URLSearchParams(entries.map(([key, value]) => [key, String(value)]))}`;
}

function problemOf(text: string): Partial<Problem> {
  try {
    return JSON.parse(text) as Partial<Problem>;
  } catch {
    return {};
  }
}

/** The way of a card's decision to the server. */
export function decideWith(client: Client, seen: (ask: Schemas["Ask"]) => void): Decide {
  return async (askId, { kind, ...body }, { last }) => {
    try {
      seen(await client.call("POST", `/asks/${askId}/${kind}`, body, { keepalive: last }));
    } catch (thrown) {
      if (!(thrown instanceof ApiError)) throw new DecideError(String(thrown), { offline: true });
      const { outcome, own, problems } = thrown.problem;
      throw new DecideError(thrown.message, {
        ...(outcome ? { outcome } : {}),
        ...(own === undefined || own === null ? {} : { own }),
        ...(problems ? { problems } : {}),
      });
    }
  };
}
