import type { Case } from "../world";
import { asking } from "./asking";
import { calls } from "./calls";
import { races, transports } from "./transports";

export { World } from "../world";

/** The tests that run in Node.js and in a page. */
export const suite: Case[] = [...asking, ...calls, ...transports, ...races];
