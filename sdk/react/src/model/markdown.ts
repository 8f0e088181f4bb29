/** A piece of a line: words, code, strong or slanted words. */
export type Span = { kind: "text" | "code" | "strong" | "em"; text: string };

/** A block of Markdown. Only what plans and messages use; everything else is text, and nothing is ever markup. */
export type Block =
  | { kind: "heading"; spans: Span[] }
  | { kind: "paragraph"; spans: Span[] }
  | { kind: "code"; text: string }
  | { kind: "list"; ordered: boolean; start: number; items: { depth: number; spans: Span[] }[] };

const ITEM = /^(\s*)(?:[-*+]|(\d{1,9})[.)])\s+(.*)$/;

/** Reads Markdown. */
export function readMarkdown(text: string): Block[] {
  const blocks: Block[] = [];
  const lines = text.replace(/\r\n/g, "\n").split("\n");
  let paragraph: string[] = [];
  const close = () => {
    if (paragraph.length > 0) blocks.push({ kind: "paragraph", spans: spans(paragraph.join("\n")) });
    paragraph = [];
  };
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? "";
    const fence = /^\s*(```+|~~~+)/.exec(line)?.[1];
    const heading = /^#{1,6}\s+(.*?)\s*#*$/.exec(line);
    const item = ITEM.exec(line);
    if (fence) {
      close();
      const end = lines.findIndex((other, index) => index > at && other.trim().startsWith(fence));
      const to = end === -1 ? lines.length : end;
      blocks.push({ kind: "code", text: lines.slice(at + 1, to).join("\n") });
      at = to;
    } else if (heading) {
      close();
      blocks.push({ kind: "heading", spans: spans(heading[1] ?? "") });
    } else if (item) {
      close();
      addItem(blocks, item);
    } else if (line.trim() === "") {
      close();
    } else if (paragraph.length === 0 && /^\s{2,}/.test(line) && continueItem(blocks, line)) {
    } else {
      paragraph.push(line);
    }
  }
  close();
  return blocks;
}

function addItem(blocks: Block[], [, indent = "", number, words = ""]: RegExpExecArray): void {
  const ordered = number !== undefined;
  const depth = Math.floor(indent.length / 2);
  const before = blocks.at(-1);
  const entry = { depth, spans: spans(words) };
  if (before?.kind === "list" && (before.ordered === ordered || depth > 0)) before.items.push(entry);
  else blocks.push({ kind: "list", ordered, start: ordered ? Number(number) : 1, items: [entry] });
}

function continueItem(blocks: Block[], line: string): boolean {
  const before = blocks.at(-1);
  const item = before?.kind === "list" ? before.items.at(-1) : undefined;
  item?.spans.push({ kind: "text", text: " " }, ...spans(line.trim()));
  return item !== undefined;
}

/** Reads the pieces of a line. */
export function spans(text: string): Span[] {
  const found: Span[] = [];
  let from = 0;
  for (const match of text.matchAll(/(`+)([^`]+?)\1(?!`)|\*\*([^*\n]+)\*\*|(?<![\w*])\*([^*\s][^*\n]*)\*(?![\w*])/g)) {
    if (match.index > from) found.push({ kind: "text", text: text.slice(from, match.index) });
    if (match[2] !== undefined) found.push({ kind: "code", text: match[2] });
    else if (match[3] !== undefined) found.push({ kind: "strong", text: match[3] });
    else found.push({ kind: "em", text: match[4] ?? "" });
    from = match.index + match[0].length;
  }
  if (from < text.length) found.push({ kind: "text", text: text.slice(from) });
  return found;
}
