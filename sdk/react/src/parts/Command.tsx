import { Visible } from "./Visible";

/**
 * A command, an address or a path, verbatim. Lines break at white space, and inside a token only if the token is longer than the
 * line. Browsers break after every hyphen otherwise, so that `--force` could read as two arguments.
 */
export function Command({ text }: { text: string }) {
  return text.split(/(\s+)/).map((part, index) =>
    index % 2 === 0 ? (
      <span key={index} className="token">
        <Visible text={part} />
      </span>
    ) : (
      <Visible key={index} text={part} />
    ),
  );
}
