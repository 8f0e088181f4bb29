import { type AskQuery, type components, type Query, Sayso, type SessionQuery } from "@sayso/sdk";

type Schemas = components["schemas"];
export type Session = Schemas["Session"];
export type PolicyView = Schemas["PolicyView"];
export type PolicyForm = Schemas["PolicyForm"];
export type PolicyRule = Schemas["PolicyRule"];
export type FormRule = Schemas["FormRule"];
export type PolicyEdit = Schemas["PolicyEdit"];
export type QuestionDefaults = Schemas["QuestionDefaults"];
export type ApprovalDefaults = Schemas["ApprovalDefaults"];
export type RuleHits = Schemas["RuleHits"];
export type Channel = Schemas["Channel"];
export type Explained = Schemas["Explained"];
export type Token = Schemas["Token"];
export type Grant = Schemas["Grant"];
export type Agent = Schemas["Agent"];
export type NewSession = Schemas["NewSession"];
export type Run = Schemas["Run"];
export type Listeners = Schemas["ListenerList"];
export type RunStep = Schemas["RunStep"];

/** The API calls of the page, made with the TypeScript SDK. */
export class Client {
  readonly sayso: Sayso;

  constructor(token: string | undefined, signedOut: () => void = () => {}) {
    this.sayso = Sayso.connect({
      baseUrl: "/",
      token,
      via: "page",
      fetch: async (input, init) => {
        const response = await fetch(input, init);
        if (response.status === 401) signedOut();
        return response;
      },
    });
  }

  /** Calls a route without a method in the SDK. */
  call = <T>(method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE", path: string, body?: unknown): Promise<T> =>
    this.sayso.request(method, path, { body });

  read = <T>(path: string, query?: Query): Promise<T> => this.sayso.request("GET", path, { query });

  asks = (query: AskQuery) => this.sayso.asks.list(query);
  ask = (id: string) => this.sayso.asks.get(id, { raw: true });
  snooze = (id: string, until: string | null) => this.sayso.asks.snooze(id, until === null ? null : new Date(until));
  sessions = (query: SessionQuery) => this.sayso.sessions.list(query);
  session = (id: string) => this.read<Session>(`/sessions/${id}`);
  transcript = (id: string, cursor?: string) =>
    this.read<Schemas["Transcript"]>(`/sessions/${id}/transcript`, { limit: 500, cursor });
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
  changeSession = (id: string, change: Schemas["ChangeSession"]) =>
    this.call<Session>("PATCH", `/sessions/${id}`, change);
  runs = (query: Query) => this.read<Schemas["RunPage"]>("/runs", query);
  run = (id: string) => this.read<Run>(`/runs/${id}`);
  cancelRun = (id: string) => this.call<Run>("POST", `/runs/${id}/cancel`, {});
  agents = () => this.read<Schemas["AgentList"]>("/agents");
  policy = () => this.read<PolicyView>("/policy");
  savePolicy = (policy: Schemas["SetPolicy"]) => this.call<PolicyView>("PUT", "/policy", policy);
  editPolicy = (edit: Schemas["EditPolicy"]) => this.call<PolicyForm>("POST", "/policy/edit", edit);
  ruleHits = () => this.read<Schemas["RuleHitsList"]>("/policy/hits");
  precedents = (id: string) => this.read<Schemas["Precedents"]>(`/asks/${id}/precedents`);
  channels = () => this.read<Schemas["ChannelList"]>("/notify");
  testChannel = (name: string) => this.call<Schemas["TestedList"]>("POST", "/notify/test", { name });
  explain = (request: Schemas["ExplainRequest"]) =>
    this.call<Schemas["Explanation"]>("POST", "/policy/explain", request);
  grant = (grant: Schemas["NewGrant"]) => this.call<Schemas["Grant"]>("POST", "/policy/grants", grant);
  revokeGrant = (id: string) => this.call<void>("DELETE", `/policy/grants/${id}`);
  profile = (profile: Schemas["SetProfile"]) => this.call<PolicyView>("PUT", "/policy/profile", profile);
  tokens = () => this.sayso.tokens.list();
  newToken = (token: Schemas["NewToken"]) => this.sayso.tokens.create(token);
  revoke = (id: string) => this.sayso.tokens.revoke(id);
  listeners = () => this.read<Listeners>("/listeners");
  openListener = (address: string) => this.call<Schemas["Listener"]>("POST", "/listeners", { address });
  /** For phones: an answerer token. */
  phoneCode = () => this.call<Schemas["LoginCode"]>("POST", "/login-codes", { role: "answerer" });
  login = (code: string, device: string) =>
    this.sayso.request<Schemas["CreatedToken"]>("POST", "/login", { body: { code, device }, once: true });
}
