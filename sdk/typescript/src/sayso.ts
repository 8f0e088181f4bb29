import type { Ask } from "./api/index.js";
import { Asks } from "./asks.js";
import { Feed } from "./feed.js";
import { Groups } from "./groups.js";
import { type ConnectOptions, Http, type RequestOptions } from "./http.js";
import { Runs } from "./runs.js";
import { Listening, Sessions } from "./sessions.js";
import { Tokens } from "./tokens.js";
import { HttpTransport, type Transport } from "./transport.js";

/** Options of {@link Sayso.connect}. */
export interface SaysoOptions extends ConnectOptions {
  /** Receives errors that no call can throw: a callback that threw, an answer that came too late (an `AlreadyResolvedError`),
   * a stream that the server refused. By default, they are written to the console. */
  onError?: (error: unknown, ask?: Ask) => void;
}

/** A client for one Sayso server and one token. */
export class Sayso extends Listening {
  /** Starts agents and finds their sessions. */
  readonly sessions: Sessions;
  /** Starts and reads runs of workflows. */
  readonly runs: Runs;
  /** Suspended runs and their workers. */
  readonly groups: Groups;
  /** Creates and revokes tokens. Requires an `admin` token. */
  readonly tokens: Tokens;
  /** Answers asks by session and tool call, for components that know only these ids. */
  readonly transport: Transport;

  /** Creates a client. The first request is sent with the first call or listener. */
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

  /** Calls a route that has no method here, for example `request("GET", "/agents")`. Retries and errors work as for all
   * other calls. */
  request = <T>(
    method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE",
    path: string,
    options?: RequestOptions,
  ): Promise<T> => this.http.request(method, path, options);

  /** The pending asks and the state of the connection, for user interfaces. */
  get live(): Pick<Feed, "pending" | "connection" | "loaded" | "onChange"> {
    return this.feed;
  }

  /** Closes all streams and removes all listeners. */
  close(): void {
    this.feed.close();
  }
}
