import http from "node:http";
import type { AddressInfo } from "node:net";

const TYPES: Record<string, string> = { html: "text/html", js: "text/javascript", css: "text/css" };

/** A web site with another origin than the server. */
export class Site {
  readonly files = new Map<string, string>();
  readonly #server = http.createServer((request, response) => {
    const path = new URL(request.url ?? "/", "http://site").pathname;
    const body = this.files.get(path === "/" ? "/index.html" : path);
    const type = TYPES[path === "/" ? "html" : (path.split(".").at(-1) ?? "")];
    response.writeHead(body === undefined ? 404 : 200, { "Content-Type": `${type ?? "text/plain"}; charset=utf-8` });
    response.end(body ?? "");
  });
  origin = "";

  static async start(): Promise<Site> {
    const site = new Site();
    await new Promise<void>((resolve) => site.#server.listen(0, "127.0.0.1", resolve));
    site.origin = `http://127.0.0.1:${(site.#server.address() as AddressInfo).port}`;
    return site;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
