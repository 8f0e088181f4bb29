import type { CreatedToken, NewToken, Token } from "./api/index.js";
import { type Http, part } from "./http.js";

/** Tokens for others: for a page that may see one session, for a script that may ask. Needs an `admin` token. */
export class Tokens {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Makes a token. Its secret is in the reply and nowhere else, so a call that got none is not sent again. */
  create = (token: NewToken): Promise<CreatedToken> => this.#http.post("/tokens", token, { once: true });

  list = async (): Promise<Token[]> => (await this.#http.get<{ data: Token[] }>("/tokens")).data;

  revoke = async (id: string): Promise<Token> => this.#http.delete(`/tokens/${part(id)}`);
}
