/** The maximum size of one event. A longer one does not come from a Sayso server. */
const LONGEST = 16 * 1024 * 1024;

/** Parses the JSON values of server-sent events. Accepts pieces of any size. */
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
    if (this.#rest.length > LONGEST) throw new Error("event exceeds the size limit");
  }
}

/** The value of one event. `undefined` for comments and invalid JSON. */
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
