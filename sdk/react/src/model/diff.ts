/** One line of a diff, with its line numbers in the old and the new file. */
export interface DiffLine {
  kind: "hunk" | "same" | "add" | "del";
  old?: number;
  now?: number;
  text: string;
  /** The part that differs from the corresponding old or new line. */
  mark?: { from: number; to: number };
}

/** Header lines before the first hunk, which only repeat the file name. */
const HEADER = /^(--- |\+\+\+ |diff --git |index [0-9a-f]+\.\.)/;
const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

/** Parses a unified diff. Unknown lines are kept unchanged. */
export function readDiff(text: string): DiffLine[] {
  const lines: DiffLine[] = [];
  let [old, now, inHunk] = [0, 0, false];
  const all = text.split("\n");
  if (all.at(-1) === "") all.pop();
  for (const line of all) {
    const hunk = HUNK.exec(line);
    if (hunk) {
      [old, now, inHunk] = [Number(hunk[1]), Number(hunk[2]), true];
      lines.push({ kind: "hunk", text: line });
    } else if (!inHunk) {
      if (!HEADER.test(line)) lines.push({ kind: "hunk", text: line });
    } else if (line.startsWith("+")) {
      lines.push({ kind: "add", now: now++, text: line.slice(1) });
    } else if (line.startsWith("-")) {
      lines.push({ kind: "del", old: old++, text: line.slice(1) });
    } else if (line.startsWith("\\")) {
      lines.push({ kind: "hunk", text: line });
    } else {
      lines.push({ kind: "same", old: old++, now: now++, text: line.startsWith(" ") ? line.slice(1) : line });
    }
  }
  markPairs(lines);
  return lines;
}

/** Counts added and removed lines. */
export function statOf(lines: DiffLine[]): { added: number; removed: number } {
  const count = (kind: DiffLine["kind"]) => lines.filter((line) => line.kind === kind).length;
  return { added: count("add"), removed: count("del") };
}

/** Marks the differences between removed and added lines if there are as many of both: those lines were changed. */
function markPairs(lines: DiffLine[]): void {
  for (let at = 0; at < lines.length; ) {
    const removed = run(lines, at, "del");
    const added = run(lines, at + removed, "add");
    if (removed > 0 && removed === added) {
      for (let i = 0; i < removed; i++) markPair(lines[at + i], lines[at + removed + i]);
    }
    at += Math.max(1, removed + added);
  }
}

function run(lines: DiffLine[], from: number, kind: DiffLine["kind"]): number {
  let length = 0;
  while (lines[from + length]?.kind === kind) length++;
  return length;
}

function markPair(del: DiffLine | undefined, add: DiffLine | undefined): void {
  if (!del || !add) return;
  const shorter = Math.min(del.text.length, add.text.length);
  let front = 0;
  while (front < shorter && del.text[front] === add.text[front]) front++;
  let back = 0;
  while (back < shorter - front && del.text.at(-1 - back) === add.text.at(-1 - back)) back++;
  const alike = del.text.slice(0, front).trim().length + back;
  if (alike * 3 < shorter) return;
  del.mark = { from: front, to: del.text.length - back };
  add.mark = { from: front, to: add.text.length - back };
}
