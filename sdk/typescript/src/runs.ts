import type { NewRun, Run, RunPage } from "./api/index.js";
import { type CallOptions, type Http, part } from "./http.js";

/** What became of a question of a run. */
export interface RunReply {
  status: "answered" | "rejected";
}

export interface RunQuery {
  /** Only runs that are not over. */
  open?: boolean;
  /** 1 to 500. */
  limit?: number;
  cursor?: string;
}

/** Runs of workflows. */
export class Runs {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Starts a run. `workflow` is the name of a workflow on the server, or the workflow itself. */
  start = (run: NewRun): Promise<Run> => this.#http.post("/runs", run);

  list = (query: RunQuery = {}, options: CallOptions = {}): Promise<RunPage> =>
    this.#http.get("/runs", { query: { ...query }, ...options });

  /** The run, with what waits in it. */
  get = (runId: string): Promise<Run> => this.#http.get(`/runs/${part(runId)}`);

  /** Cancels the run and closes the sessions of its steps. */
  cancel = (runId: string): Promise<Run> => this.#http.post(`/runs/${part(runId)}/cancel`, {});

  answerQuestion = (runId: string, questionId: string, answers: string[][]): Promise<RunReply> =>
    this.#http.post(`/runs/${part(runId)}/questions/${part(questionId)}`, { answers });

  rejectQuestion = (runId: string, questionId: string, message?: string): Promise<RunReply> =>
    this.#http.post(`/runs/${part(runId)}/questions/${part(questionId)}`, { reject: true, message });
}
