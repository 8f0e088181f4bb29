import { afterAll, beforeAll, describe, it } from "vitest";
import { Server } from "../../../web/e2e/server";
import { suite } from "./suite";
import { World } from "./world";

/** The suite in Node.js, against the real server and the mock agent. */
describe("in Node.js", () => {
  let server: Server;
  beforeAll(async () => {
    server = await Server.start();
  });
  afterAll(() => server.stop());

  for (const { name, run } of suite) {
    it(name, async () => {
      const world = new World(server.url, server.token);
      try {
        await run(world);
      } finally {
        world.close();
      }
    });
  }
});
