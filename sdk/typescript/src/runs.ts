import { type Http, part } from "./http.js";

/** What became of a question of a run. */
export interface RunReply {
  status: "answered" | "rejected";
}

/** Questions of workflow runs. */
export class Runs {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** The run, with what waits in it. */
  get = async (runId: string): Promise<Record<string, unknown>> => this.#http.get(`/runs/${part(runId)}`);

  answerQuestion = async (runId: string, questionId: string, answers: string[][]): Promise<RunReply> =>
    this.#http.post(`/runs/${part(runId)}/questions/${part(questionId)}`, { answers });

  rejectQuestion = async (runId: string, questionId: string, message?: string): Promise<RunReply> =>
    this.#http.post(`/runs/${part(runId)}/questions/${part(questionId)}`, { reject: true, message });
}
