import { execFileSync } from "node:child_process";
import { test } from "./fixtures";

const ip = (...args: string[]) => execFileSync("ip", args, { stdio: "pipe" });

/** A machine of the test's own, in a network namespace: it has the address `there`, this one reaches it from `here`. The
 * name of the namespace. */
export function ownMachine(letter: string, here: string, there: string): string {
  const namespace = `sayso-${letter}${process.pid}`;
  test.beforeAll(() => {
    const [near, far] = [`${letter}a${process.pid}`, `${letter}b${process.pid}`];
    ip("netns", "add", namespace);
    ip("link", "add", near, "type", "veth", "peer", "name", far, "netns", namespace);
    ip("addr", "add", `${here}/30`, "dev", near);
    ip("link", "set", near, "up");
    ip("-n", namespace, "addr", "add", `${there}/30`, "dev", far);
    ip("-n", namespace, "link", "set", far, "up");
    ip("-n", namespace, "link", "set", "lo", "up");
    ip("-n", namespace, "route", "add", "default", "via", here);
  });
  test.afterAll(() => {
    ip("netns", "del", namespace);
  });
  return namespace;
}
