import { destructiveParts, type TextRange } from "../model/risk";
import { Visible } from "./Visible";

/**
 * A command, an address or a path, verbatim. Lines break at white space, and inside a token only if the token is longer than the
 * line. Browsers break after every hyphen otherwise, so that `--force` could read as two arguments. Destructive words of a command
 * are underlined.
 */
export function Command({ text, isShell = false }: { text: string; isShell?: boolean }) {
  const risky = isShell ? destructiveParts(text) : [];
  let at = 0;
  return text.split(/(\s+)/).map((part, index) => {
    const from = at;
    at += part.length;
    return index % 2 === 0 ? (
      <span key={index} className="token">
        <Marked text={part} from={from} ranges={risky} />
      </span>
    ) : (
      <Visible key={index} text={part} />
    );
  });
}

/** A token with the parts inside a range marked. `from` is the offset of the token. */
function Marked({ text, from, ranges }: { text: string; from: number; ranges: TextRange[] }) {
  const inside = ranges
    .map((range) => ({ from: Math.max(0, range.from - from), to: Math.min(text.length, range.to - from) }))
    .filter((range) => range.from < range.to);
  let at = 0;
  return (
    <>
      {inside.map((range) => {
        const before = text.slice(at, range.from);
        at = range.to;
        return (
          <span key={range.from}>
            <Visible text={before} />
            <mark className="danger">
              <Visible text={text.slice(range.from, range.to)} />
            </mark>
          </span>
        );
      })}
      <Visible text={text.slice(at)} />
    </>
  );
}
