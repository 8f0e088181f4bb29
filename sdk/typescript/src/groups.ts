import type { Claim, ClaimRequest, Group, NewGroup } from "./api/index.js";
import { type CallOptions, type Http, part, type RequestOptions } from "./http.js";

/** Groups: the asks of suspended runs, and the claims of workers that resume them. */
export class Groups {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Opens the asks at which a run pauses, all of them or none, and stores the state that a worker needs to resume the run. */
  open = (group: NewGroup, options: CallOptions = {}): Promise<Group> => this.#http.post("/groups", group, options);

  /** Reads one group with its asks. */
  get = (groupId: string): Promise<Group> => this.#http.get(`/groups/${part(groupId)}`);

  /** Withdraws a group: its pending asks are withdrawn, and its state is deleted. */
  withdraw = (groupId: string, reason?: string): Promise<Group> =>
    this.#http.delete(`/groups/${part(groupId)}`, { query: { reason } });

  /** Returns how many groups with this name can be claimed. Waits at most `wait` seconds for one, up to 60. */
  ready = async (name: string, wait = 0, options: CallOptions = {}): Promise<number> => {
    const query = { name, wait: `${Math.trunc(wait)}s` };
    return (await this.#http.get<{ ready: number }>("/groups/ready", { query, ...options })).ready;
  };

  /** Claims the oldest complete group with a name, or one group by id. Returns `undefined` if no such group is complete. To
   * repeat a claim whose response was lost, pass the same `idempotencyKey`. */
  claim = async (
    request: ClaimRequest,
    options: Pick<RequestOptions, "idempotencyKey"> = {},
  ): Promise<Claim | undefined> =>
    (await this.#http.post<Claim | null>("/groups/claim", request, options)) ?? undefined;

  /** Extends the lease of a claim, for example to `"60s"` from now. */
  renew = (claim: Claim, lease?: string): Promise<Group> =>
    this.#http.post(`/groups/${part(claim.group.id)}/renew`, { epoch: claim.epoch, lease });

  /** Reports that the run was resumed. The state is deleted. */
  acknowledge = (claim: Claim): Promise<Group> =>
    this.#http.post(`/groups/${part(claim.group.id)}/ack`, { epoch: claim.epoch });

  /** Releases a claim. If the run was started, a person decides whether it is resumed again. */
  release = (claim: Claim, started: boolean, reason?: string): Promise<Group> =>
    this.#http.post(`/groups/${part(claim.group.id)}/release`, { epoch: claim.epoch, started, reason });
}
