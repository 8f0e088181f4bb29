import { type ChildProcess, spawn } from "node:child_process";

interface Style {
  color?: string;
  bold?: boolean;
  dim?: boolean;
  inverse?: boolean;
}

interface Cell {
  text: string;
  style: Style;
}

const ESCAPE = "\u001b";
const BELL = "\u0007";
/** The eight colors of a terminal. */
const PALETTE = ["#3b4252", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d7dae0"];

/** The screen of a terminal. Knows the sequences that `sayso` writes to a terminal when it does not own the whole screen. */
export class Screen {
  #cells: Cell[][];
  #row = 0;
  #column = 0;
  #style: Style = {};
  #rest = "";

  constructor(
    readonly columns: number,
    readonly rows: number,
  ) {
    this.#cells = Array.from({ length: rows }, () => []);
  }

  write(text: string): void {
    let rest = this.#rest + text;
    while (rest) {
      if (rest.startsWith(ESCAPE)) {
        const length = this.#sequence(rest);
        // The rest of the sequence is in the next piece of output.
        if (length === 0) break;
        rest = rest.slice(length);
        continue;
      }
      const character = String.fromCodePoint(rest.codePointAt(0) ?? 0);
      this.#put(character);
      rest = rest.slice(character.length);
    }
    this.#rest = rest;
  }

  /** The lines as HTML. */
  html(cursor: boolean): string {
    const lines = this.#cells.map((cells, row) => {
      const shown = [...cells];
      if (cursor && row === this.#row) {
        while (shown.length <= this.#column) shown.push({ text: " ", style: {} });
        shown[this.#column] = { text: shown[this.#column]?.text ?? " ", style: { inverse: true } };
      }
      return Array.from(shown, (cell) => cellHtml(cell ?? { text: " ", style: {} })).join("");
    });
    return lines.join("\n");
  }

  /** Carries out the sequence at the start of the text and returns its length; 0 if it is incomplete. */
  #sequence(text: string): number {
    if (text[1] === "]") return text.indexOf(BELL) + 1;
    const control = /^\[([0-9;?]*)([A-Za-z])/.exec(text.slice(1));
    if (control) this.#control(control[1] ?? "", control[2] ?? "");
    return control ? control[0].length + 1 : text.length < 32 ? 0 : 1;
  }

  #put(character: string): void {
    if (character === "\r") this.#column = 0;
    else if (character === "\n") this.#newLine();
    else if (character === "\b") this.#column = Math.max(0, this.#column - 1);
    else if (character >= " ") {
      if (this.#column >= this.columns) {
        this.#column = 0;
        this.#newLine();
      }
      const cells = this.#cells[this.#row] ?? [];
      while (cells.length < this.#column) cells.push({ text: " ", style: {} });
      cells[this.#column] = { text: character, style: this.#style };
      this.#column += 1;
    }
  }

  #newLine(): void {
    if (this.#row + 1 < this.rows) {
      this.#row += 1;
      return;
    }
    this.#cells.shift();
    this.#cells.push([]);
  }

  #control(parameters: string, command: string): void {
    const numbers = parameters.split(";").map((number) => Number.parseInt(number, 10) || 0);
    const count = Math.max(1, numbers[0] ?? 1);
    switch (command) {
      case "A":
        this.#row = Math.max(0, this.#row - count);
        break;
      case "B":
        this.#row = Math.min(this.rows - 1, this.#row + count);
        break;
      case "C":
        this.#column = Math.min(this.columns - 1, this.#column + count);
        break;
      case "D":
        this.#column = Math.max(0, this.#column - count);
        break;
      case "G":
        this.#column = count - 1;
        break;
      case "J":
        for (let row = this.#row + 1; row < this.rows; row += 1) this.#cells[row] = [];
        this.#cells[this.#row]?.splice(this.#column);
        break;
      case "K":
        this.#cells[this.#row]?.splice(numbers[0] === 2 ? 0 : this.#column);
        break;
      case "m":
        for (const number of numbers) this.#style = styleAfter(this.#style, number);
        break;
      default:
    }
  }
}

function styleAfter(style: Style, number: number): Style {
  if (number === 0) return {};
  if (number === 1) return { ...style, bold: true };
  if (number === 2) return { ...style, dim: true };
  if (number === 7) return { ...style, inverse: true };
  if (number === 22) return { ...style, bold: false, dim: false };
  const color = PALETTE[number >= 90 ? number - 90 : number - 30];
  return color ? { ...style, color } : style;
}

function cellHtml({ text, style }: Cell): string {
  const escaped = text.replace(/[&<>]/g, (character) => `&#${character.codePointAt(0)};`);
  const css = [
    style.inverse ? "background:#d7dae0;color:#16181d" : style.color ? `color:${style.color}` : "",
    style.bold ? "font-weight:700" : "",
    style.dim ? "opacity:.6" : "",
  ].filter(Boolean);
  return css.length > 0 ? `<span style="${css.join(";")}">${escaped}</span>` : escaped;
}

/** A command in its own pseudoterminal, which `script` of util-linux opens. */
export class TerminalCommand {
  #child: ChildProcess;
  readonly ended: Promise<void>;

  constructor(screen: Screen, command: string, options: { cwd: string; env: NodeJS.ProcessEnv }) {
    const inTerminal = `stty cols ${screen.columns} rows ${screen.rows}; exec ${command}`;
    this.#child = spawn("script", ["--quiet", "--flush", "--return", "--command", inTerminal, "/dev/null"], {
      ...options,
      stdio: ["pipe", "pipe", "inherit"],
    });
    const decoder = new TextDecoder();
    this.#child.stdout?.on("data", (piece: Buffer) => screen.write(decoder.decode(piece, { stream: true })));
    this.ended = new Promise((resolve) => this.#child.once("exit", () => resolve()));
  }

  /** Types keys. */
  type(keys: string): void {
    this.#child.stdin?.write(keys);
  }
}
