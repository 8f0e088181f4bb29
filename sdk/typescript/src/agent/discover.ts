import { readFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { SaysoError } from "../errors.js";

/** No address is configured, and no server runs on this machine. */
export class NoServerError extends SaysoError {
  override readonly name = "NoServerError";

  constructor(message: string) {
    super("no_server", `${message}. Start a server with \`sayso serve\`, or set SAYSO_URL.`, 0);
  }
}

/** There is no agent token. */
export class NoTokenError extends SaysoError {
  override readonly name = "NoTokenError";

  constructor(message: string) {
    const remedy = "Create one: export SAYSO_AGENT_TOKEN=$(sayso token create my-app --role agent)";
    super("no_token", `${message}. ${remedy}`, 0);
  }
}

type Environment = Record<string, string | undefined>;

function dataDirectory(environment: Environment): string | undefined {
  if (environment.SAYSO_DATA_DIR) return environment.SAYSO_DATA_DIR;
  const { XDG_STATE_HOME: state = "", HOME: home = "" } = environment;
  // The XDG specification says to ignore relative paths.
  if (isAbsolute(state)) return join(state, "sayso");
  return isAbsolute(home) ? join(home, ".local/state/sayso") : undefined;
}

/** The address of the server: the variable, or the server that runs on this machine. */
export function findUrl(environment: Environment = process.env): string {
  if (environment.SAYSO_URL) return environment.SAYSO_URL;
  const directory = dataDirectory(environment);
  if (directory === undefined) throw new NoServerError("Neither SAYSO_URL nor HOME is set");
  const path = join(directory, "server.json");
  const text = read(path);
  if (text === undefined) throw new NoServerError(`No server runs on this machine (looked in ${path})`);
  const { url, pid } = parse(text);
  if (typeof url !== "string" || typeof pid !== "number") throw new NoServerError(`${path} is not valid`);
  if (!isRunning(pid)) throw new NoServerError(`The server of ${path} has stopped`);
  return url;
}

/** The token of the program. The admin token is never read, because a program that asks must not be able to answer. */
export function findToken(agent: string | undefined, environment: Environment = process.env): string {
  if (environment.SAYSO_AGENT_TOKEN) return environment.SAYSO_AGENT_TOKEN;
  const directory = dataDirectory(environment);
  const own = agent && !agent.includes("/") ? [`agent-token-${agent}`] : [];
  for (const name of [...own, "agent-token"]) {
    const token = directory && read(join(directory, name))?.trim();
    if (token) return token;
  }
  throw new NoTokenError(`There is no agent token (looked in SAYSO_AGENT_TOKEN and ${directory})`);
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function parse(text: string): { url?: unknown; pid?: unknown } {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

/** Whether the process exists. Another program may listen on the port of a server that was killed, and must not get the
 * token. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
  // A killed process stays a zombie until its parent has read its exit status.
  const state = read(`/proc/${pid}/stat`)?.split(")").at(-1)?.trim()[0];
  return state !== "Z" && state !== "X";
}
