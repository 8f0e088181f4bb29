import type { Ask } from "../api";
import { type ShellPart, shellParts } from "./shell";

/** A part of a text, by its offsets. */
export interface TextRange {
  from: number;
  to: number;
}

/** A whole word or flag, not a part of a longer one. */
const word = (pattern: string): string => `(?<![\\w./-])(?:${pattern})(?![\\w-])`;

/** Words that delete, overwrite, skip a check or gain rights. Quoted text also counts: `sh -c "rm -rf /"` runs it. */
const DESTRUCTIVE = new RegExp(
  [
    word("rm(?:\\s+-[\\w-]+)*\\s+-(?:\\w*[rRf]\\w*|-recursive|-force)(?:\\s+-[\\w-]+)*"),
    word(
      "--?(?:auto-approve|force[\\w-]*|no-verify|no-preserve-root|hard|delete|prune|purge|privileged|dangerously-[\\w-]+)",
    ),
    word("git\\s+push\\s+(?:\\S+\\s+)*-f"),
    word("git\\s+clean\\s+-\\w*f\\w*"),
    word("git\\s+branch\\s+-D"),
    word("(?:chmod|chown)\\s+-R"),
    word("sudo|doas|mkfs(?:\\.\\w+)?|shred|wipefs|killall|pkill|shutdown|reboot"),
    word("dd\\s+[^;&|]*of=\\S+"),
    word("kill\\s+-(?:9|KILL|SIGKILL)"),
    word("(?:terraform|tofu|pulumi)\\s+destroy"),
    word("kubectl\\s+delete"),
    word("(?:docker|podman)\\s+(?:\\w+\\s+)?(?:rm|rmi|prune)"),
    word("drop\\s+(?:table|database|schema)|truncate\\s+table|delete\\s+from"),
    "\\|\\s*(?:sudo\\s+)?(?:ba|da|z)?sh(?![\\w./-])",
  ].join("|"),
  "gi",
);

/** The destructive words of a command, in order. They never overlap. */
export const destructiveParts = (command: string): TextRange[] =>
  [...command.matchAll(DESTRUCTIVE)].map(({ index, 0: { length } }) => ({ from: index, to: index + length }));

/** Commands whose arguments are files that they change. */
const WRITERS = new Set([
  "rm",
  "mv",
  "cp",
  "mkdir",
  "rmdir",
  "touch",
  "ln",
  "tee",
  "install",
  "chmod",
  "chown",
  "truncate",
  "unlink",
]);

/** The paths outside the project that an approval would change, as far as its text shows. */
export function outsideWrites({ approval, project }: Ask): string[] {
  if (!approval || !project) return [];
  const { action, command, preview } = approval;
  const cwd = (preview?.type === "command" && preview.cwd) || project;
  const home = /^(?:\/home\/[^/]+|\/Users\/[^/]+|\/root)(?=\/|$)/.exec(project)?.[0];
  const paths = action === "edit" ? (approval.paths ?? []) : action === "run" && command ? writtenPaths(command) : [];
  const outside = paths.flatMap((written) => {
    const path = typeof written === "string" ? { text: written, below: "" } : written;
    const full = resolvePath(path.text, path.below ? resolvePath(path.below, cwd, home) : cwd, home);
    return full === undefined || isInside(full, project) || full.startsWith("/dev/") ? [] : [path.text];
  });
  return [...new Set(outside)];
}

interface WrittenPath {
  text: string;
  /** The directory of the preceding `cd`. Empty without one. */
  below: string;
}

/** The paths that a command line writes: targets of redirections and arguments of commands that change files. */
function writtenPaths(command: string): WrittenPath[] {
  const written: WrittenPath[] = [];
  let below = "";
  let words: string[] = [];
  const end = () => {
    const [name = "", ...rest] = words[0] === "sudo" ? words.slice(1) : words;
    const args = rest.filter((one) => !one.startsWith("-"));
    if (name === "cd" && args[0] !== undefined) below = isAbsolute(args[0]) || !below ? args[0] : `${below}/${args[0]}`;
    const target = name === "cp" || name === "install" || name === "ln" ? args.slice(-1) : args;
    if (WRITERS.has(name)) written.push(...target.map((text) => ({ text, below })));
    words = [];
  };
  let isTarget = false;
  for (const part of shellParts(command)) {
    if (isOperator(part)) {
      isTarget = part.operator.includes(">") && !part.operator.endsWith("&");
      if (!part.operator.includes(">") && !part.operator.includes("<")) end();
    } else if (isTarget) {
      written.push({ text: part.word, below });
      isTarget = false;
    } else words.push(part.word);
  }
  end();
  return written;
}

const isOperator = (part: ShellPart): part is Extract<ShellPart, { operator: string }> => "operator" in part;
const isAbsolute = (path: string): boolean => /^(?:\/|~|\$HOME\b|\$\{HOME\})/.test(path);
const isInside = (path: string, project: string): boolean => {
  const root = project.replace(/\/+$/, "");
  return path === root || path.startsWith(`${root}/`);
};

/** A path without `.` and `..`. Undefined if it depends on a variable or on the home of another user. */
function resolvePath(path: string, cwd: string | undefined, home: string | undefined): string | undefined {
  const withHome = path.replace(/^(?:~(?=\/|$)|\$HOME\b|\$\{HOME\})/, home ?? "/~");
  if (cwd === undefined || /[$`]/.test(withHome) || withHome.startsWith("~")) return undefined;
  const parts: string[] = [];
  for (const part of (withHome.startsWith("/") ? withHome : `${cwd}/${withHome}`).split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}
