import { type Ask, type NewToken, Sayso, type SaysoOptions, type SaysoSession } from "@sayso/sdk";
import { until } from "./check";

let made = 0;

/** A running server for a test. Everything here also works in a page. */
export class World {
  readonly #open: Sayso[] = [];
  readonly admin: Sayso;

  constructor(
    readonly url: string,
    readonly token: string,
  ) {
    this.admin = this.connect(token);
  }

  connect(token: SaysoOptions["token"], options: Partial<SaysoOptions> = {}): Sayso {
    const sayso = Sayso.connect({ baseUrl: this.url, token, ...options });
    this.#open.push(sayso);
    return sayso;
  }

  /** A client with another token. */
  async as(token: NewToken, options: Partial<SaysoOptions> = {}): Promise<Sayso> {
    return this.connect(await this.secret(token), options);
  }

  async secret(token: NewToken): Promise<string> {
    return (await this.admin.tokens.create(token)).token ?? "";
  }

  /** A client that sees only sessions of this test with these labels, and its background errors. */
  async team(): Promise<{ sayso: Sayso; labels: { team: string }; errors: unknown[] }> {
    const labels = { team: `team-${Date.now()}-${made++}` };
    const errors: unknown[] = [];
    const sayso = await this.as({ role: "answerer", actor: "ada", labels }, { onError: (error) => errors.push(error) });
    return { sayso, labels, errors };
  }

  /** A session of the mock agent with a pending ask. */
  async asked(sayso: Sayso, prompt: string): Promise<{ session: SaysoSession; ask: Ask }> {
    const session = await sayso.sessions.create({ agent: "mock", prompt });
    return { session, ask: await this.ask(sayso, session.id) };
  }

  ask = (sayso: Sayso, session: string): Promise<Ask> =>
    until("the mock asks", async () => (await sayso.asks.list({ status: "pending", session })).data[0]);

  /** The messages of the agent. */
  async said(session: SaysoSession): Promise<string[]> {
    const { data } = await session.transcript();
    return data.filter(({ type, role }) => type === "message" && role === "assistant").map(({ text }) => String(text));
  }

  close(): void {
    for (const sayso of this.#open) sayso.close();
  }
}

/** A test that runs in Node.js and in a page. */
export interface Case {
  name: string;
  run: (world: World) => Promise<void>;
}
