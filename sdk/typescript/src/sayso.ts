import type { Ask } from "./api/index.js";
import { Asks } from "./asks.js";
import { Feed } from "./feed.js";
import { Groups } from "./groups.js";
import { type ConnectOptions, Http, type RequestOptions } from "./http.js";
import { Runs } from "./runs.js";
import { Listening, Sessions } from "./sessions.js";
import { Tokens } from "./tokens.js";
import { HttpTransport, type Transport } from "./transport.js";

export interface SaysoOptions extends ConnectOptions {
  /** Hears what went wrong where nobody waits for it: a callback that threw, a reply that came too late (an
   * `AlreadyResolvedError`), a stream that the server refused. By default it goes to the console. */
  onError?: (error: unknown, ask?: Ask) => void;
}

/** A Sayso server, as one token sees it. */
export class Sayso extends Listening {
  readonly sessions: Sessions;
  readonly runs: Runs;
  /** Suspended runs and their workers. */
  readonly groups: Groups;
  readonly tokens: Tokens;
  /** Answers by tool call, for components that know nothing else. */
  readonly transport: Transport;

  /** Nothing is sent until something is asked for. */
  static connect(options: SaysoOptions): Sayso {
    return new Sayso(options);
  }

  private constructor(options: SaysoOptions) {
    const http = new Http(options);
    const asks = new Asks(http);
    const feed = new Feed(http, asks, options.onError ?? ((error) => console.error("sayso:", error)));
    super(http, asks, feed);
    this.sessions = new Sessions(http, asks, feed);
    this.runs = new Runs(http);
    this.groups = new Groups(http);
    this.tokens = new Tokens(http);
    this.transport = new HttpTransport(http);
  }

  /** Calls a route that has no method here, for example `request("GET", "/agents")`. Repetitions and errors are those of
   * all calls. */
  request = <T>(
    method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE",
    path: string,
    options?: RequestOptions,
  ): Promise<T> => this.http.request(method, path, options);

  /** What is pending now, and how the line is, for whoever renders it. */
  get live(): Pick<Feed, "pending" | "connection" | "loaded" | "onChange"> {
    return this.feed;
  }

  /** Ends all listening. */
  close(): void {
    this.feed.close();
  }
}
