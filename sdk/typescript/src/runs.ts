import type { NewRun, Run, RunPage } from "./api/index.js";
import { type CallOptions, type Http, part } from "./http.js";

/** The result of answering a question of a run. */
export interface RunReply {
  /** The new status of the question. */
  status: "answered" | "rejected";
}

/** A filter for runs. */
export interface RunQuery {
  /** Only runs that have not ended. */
  open?: boolean;
  /** 1 to 500. */
  limit?: number;
  /** `nextCursor` of the previous page. */
  cursor?: string;
}

/** Workflow runs. */
export class Runs {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Starts a run. `workflow` is the name of a workflow on the server, or a workflow file. */
  start = (run: NewRun): Promise<Run> => this.#http.post("/runs", run);

  /** Lists runs, newest first. */
  list = (query: RunQuery = {}, options: CallOptions = {}): Promise<RunPage> =>
    this.#http.get("/runs", { query: { ...query }, ...options });

  /** Reads a run with its pending questions. */
  get = (runId: string): Promise<Run> => this.#http.get(`/runs/${part(runId)}`);

  /** Cancels the run and closes the sessions of its steps. */
  cancel = (runId: string): Promise<Run> => this.#http.post(`/runs/${part(runId)}/cancel`, {});

  /** Answers a pending question of a run, with one list of entries per question. */
  answerQuestion = (runId: string, questionId: string, answers: string[][]): Promise<RunReply> =>
    this.#http.post(`/runs/${part(runId)}/questions/${part(questionId)}`, { answers });

  /** Rejects a pending question of a run. */
  rejectQuestion = (runId: string, questionId: string, message?: string): Promise<RunReply> =>
    this.#http.post(`/runs/${part(runId)}/questions/${part(questionId)}`, { reject: true, message });
}
