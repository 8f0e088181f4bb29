import { createDecipheriv, createECDH, type ECDH, hkdfSync, randomBytes } from "node:crypto";
import { createServer, type Server as Http } from "node:http";
import type { AddressInfo } from "node:net";

/** A channel that sends the content of asks without delay, also to loopback addresses. */
export const PUSH_CHANNEL =
  '[[notify]]\nkind = "webpush"\ncontact = "mailto:ada@example.com"\ncontent = true\nafter = "0s"\nallow_private = true\n';

/** The subscription that a browser sends to the server. */
export interface Subscription {
  endpoint: string;
  keys: { p256dh: string; auth: string };
}

/** A push service on loopback, with the browser side: it decrypts and records messages. */
export class PushService {
  readonly messages: string[] = [];
  readonly #own: ECDH = createECDH("prime256v1");
  readonly #auth = randomBytes(16);
  readonly #http: Http;

  private constructor() {
    this.#own.generateKeys();
    this.#http = createServer((request, response) => {
      const pieces: Buffer[] = [];
      request.on("data", (piece: Buffer) => pieces.push(piece));
      request.on("end", () => {
        this.messages.push(this.#decrypt(Buffer.concat(pieces)));
        response.writeHead(201).end();
      });
    });
  }

  static async start(): Promise<PushService> {
    const service = new PushService();
    await new Promise<void>((resolve) => service.#http.listen(0, "127.0.0.1", resolve));
    return service;
  }

  async stop(): Promise<void> {
    this.#http.closeAllConnections();
    await new Promise((resolve) => this.#http.close(resolve));
  }

  get subscription(): Subscription {
    const { port } = this.#http.address() as AddressInfo;
    const keys = { p256dh: this.#own.getPublicKey("base64url"), auth: this.#auth.toString("base64url") };
    return { endpoint: `http://127.0.0.1:${port}/push`, keys };
  }

  /** RFC 8291: salt, size, sender's key, and one sealed record. */
  #decrypt(body: Buffer): string {
    const [salt, sender, sealed] = [body.subarray(0, 16), body.subarray(21, 86), body.subarray(86)];
    const derive = (key: Buffer, salted: Buffer, info: string | Buffer, length: number) =>
      Buffer.from(hkdfSync("sha256", key, salted, info, length));
    const info = Buffer.concat([Buffer.from("WebPush: info\0"), this.#own.getPublicKey(), sender]);
    const material = derive(this.#own.computeSecret(sender), this.#auth, info, 32);
    const key = derive(material, salt, "Content-Encoding: aes128gcm\0", 16);
    const nonce = derive(material, salt, "Content-Encoding: nonce\0", 12);
    const opened = createDecipheriv("aes-128-gcm", key, nonce).setAuthTag(sealed.subarray(-16));
    const padded = Buffer.concat([opened.update(sealed.subarray(0, -16)), opened.final()]);
    return padded.subarray(0, padded.lastIndexOf(2)).toString("utf8");
  }
}
