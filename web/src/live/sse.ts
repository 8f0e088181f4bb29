/** One event of the feed, as it stands in `data:`. */
export interface FeedEvent {
  seq?: number;
  at: string;
  type: string;
  sessionId?: string | null;
  data: Record<string, unknown>;
}

/** Takes a stream of text apart into events. Feed it pieces of any size. */
export class SseReader {
  #rest = "";

  *read(piece: string): Generator<FeedEvent> {
    this.#rest += piece;
    for (let end = this.#rest.indexOf("\n\n"); end !== -1; end = this.#rest.indexOf("\n\n")) {
      const frame = this.#rest.slice(0, end);
      this.#rest = this.#rest.slice(end + 2);
      const data = frame
        .split("\n")
        .filter((line) => line.startsWith("data:"))
        .map((line) => line.slice(5).replace(/^ /, ""))
        .join("\n");
      if (data !== "") yield JSON.parse(data) as FeedEvent;
    }
  }
}
