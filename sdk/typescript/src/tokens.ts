import type { CreatedToken, NewToken, Token } from "./api/index.js";
import { type Http, part } from "./http.js";

/** Creates and revokes tokens, for example for a page that can see one session. Requires an `admin` token. */
export class Tokens {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Creates a token. Only the response contains its secret, so the call is not repeated without a response. */
  create = (token: NewToken): Promise<CreatedToken> => this.#http.post("/tokens", token, { once: true });

  /** Lists all tokens, without their secrets. */
  list = async (): Promise<Token[]> => (await this.#http.get<{ data: Token[] }>("/tokens")).data;

  /** Revokes a token. Its open streams and calls end immediately. */
  revoke = async (id: string): Promise<Token> => this.#http.delete(`/tokens/${part(id)}`);
}
