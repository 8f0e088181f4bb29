/** More than any event can be. A server that sends so much without an end is not ours. */
const LONGEST = 16 * 1024 * 1024;

/** Takes a stream of text apart into the JSON values of its events. Feed it pieces of any size. */
export class SseReader {
  #rest = "";

  *read(piece: string): Generator<unknown> {
    this.#rest += piece;
    if (this.#rest.includes("\r")) this.#rest = this.#rest.replaceAll("\r\n", "\n");
    let from = 0;
    for (let end = this.#rest.indexOf("\n\n"); end !== -1; end = this.#rest.indexOf("\n\n", from)) {
      const value = readFrame(this.#rest.slice(from, end));
      from = end + 2;
      if (value !== undefined) yield value;
    }
    this.#rest = this.#rest.slice(from);
    if (this.#rest.length > LONGEST) throw new Error("an event without an end");
  }
}

/** The value of one event; nothing for comments, and for what is not JSON. */
function readFrame(frame: string): unknown {
  const data = frame
    .split("\n")
    .filter((line) => line.startsWith("data:"))
    .map((line) => line.slice(5).replace(/^ /, ""))
    .join("\n");
  try {
    return data === "" ? undefined : JSON.parse(data);
  } catch {
    return undefined;
  }
}
