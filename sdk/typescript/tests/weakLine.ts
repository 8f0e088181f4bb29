import http from "node:http";
import type { AddressInfo } from "node:net";

/** A proxy between client and server that fails on request. */
export class WeakLine {
  readonly #streams = new Set<http.ServerResponse>();
  readonly #server: http.Server;
  /** How many of the next responses are dropped after the server executed the call. */
  loseReplies = 0;
  /** The paths whose responses can be dropped. */
  lossy = /./;
  /** The paths that get the response of an older server, which does not have these routes. */
  unknown: RegExp | undefined;
  /** How many of the next responses are cut in the middle. */
  breakReplies = 0;
  /** How many of the next calls get a "server is stopping" response. */
  refuseCalls = 0;
  /** Whether all connections are refused. */
  down = false;
  url = "";
  /** The received calls, as method and path. */
  readonly seen: string[] = [];

  private constructor(private readonly target: string) {
    this.#server = http.createServer((request, response) => this.#pass(request, response));
  }

  static async before(target: string): Promise<WeakLine> {
    const proxy = new WeakLine(target);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    proxy.url = `http://127.0.0.1:${(proxy.#server.address() as AddressInfo).port}`;
    return proxy;
  }

  get streams(): number {
    return this.#streams.size;
  }

  /** Closes all streams. */
  cut(): void {
    for (const stream of this.#streams) stream.destroy();
  }

  /** Injects text into all streams. */
  inject(text: string): void {
    for (const stream of this.#streams) stream.write(text);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #pass(request: http.IncomingMessage, response: http.ServerResponse): void {
    this.seen.push(`${request.method} ${request.url}`);
    if (this.down) return void response.destroy();
    if (this.unknown?.test(request.url ?? "")) {
      response.writeHead(404, { "Content-Type": "application/problem+json" });
      response.end('{"status":404,"code":"not_found","detail":"no such route; see /openapi.json"}');
      return;
    }
    if (this.refuseCalls > 0) {
      this.refuseCalls--;
      response.writeHead(503, { "Content-Type": "application/problem+json" });
      response.end('{"status":503,"code":"shutting_down","detail":"the server is stopping"}');
      return;
    }
    const headers = { ...request.headers, host: new URL(this.target).host };
    const onward = http.request(this.target + request.url, { method: request.method ?? "GET", headers }, (reply) => {
      if (reply.headers["content-type"]?.startsWith("text/event-stream")) {
        this.#streams.add(response);
        response.on("close", () => this.#streams.delete(response));
        response.writeHead(reply.statusCode ?? 502, reply.headers);
        reply.on("error", () => response.destroy());
        reply.on("close", () => response.destroy());
        reply.pipe(response);
        response.on("close", () => reply.destroy());
        return;
      }
      const pieces: Buffer[] = [];
      reply.on("data", (piece: Buffer) => pieces.push(piece));
      reply.on("end", () => this.#reply(reply, Buffer.concat(pieces), request.url ?? "", response));
    });
    onward.on("error", () => response.destroy());
    request.pipe(onward);
  }

  #reply(reply: http.IncomingMessage, body: Buffer, path: string, response: http.ServerResponse): void {
    if (this.loseReplies > 0 && this.lossy.test(path)) {
      this.loseReplies--;
      response.destroy();
      return;
    }
    response.writeHead(reply.statusCode ?? 502, reply.headers);
    if (this.breakReplies > 0 && body.length > 1) {
      this.breakReplies--;
      response.write(body.subarray(0, body.length / 2), () => response.destroy());
      return;
    }
    response.end(body);
  }
}
