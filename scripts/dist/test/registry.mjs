// A registry of npm on the loopback interface with the packages of directories: registry.mjs DIRECTORY… Prints its address.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

const files = process.argv.slice(2).flatMap((directory) => readdirSync(directory).map((file) => ({ directory, file })));
const packages = new Map();
for (const { directory, file } of files.filter(({ file }) => file.endsWith(".tgz"))) {
  const bytes = readFileSync(join(directory, file));
  const manifest = JSON.parse(execFileSync("tar", ["-xzOf", join(directory, file), "package/package.json"], { encoding: "utf8" }));
  const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
  packages.set(manifest.name, { manifest, file, bytes, integrity });
}

const server = createServer((request, response) => {
  const path = decodeURIComponent(request.url.slice(1));
  const tarball = [...packages.values()].find(({ file }) => path === `-/${file}`);
  if (tarball) {
    response.end(tarball.bytes);
    return;
  }
  const found = packages.get(path);
  if (!found) {
    response.writeHead(404).end("{}");
    return;
  }
  const { manifest, file, integrity } = found;
  const dist = { tarball: `http://${request.headers.host}/-/${file}`, integrity };
  const version = manifest.version;
  response.setHeader("content-type", "application/json");
  response.end(
    JSON.stringify({
      name: manifest.name,
      "dist-tags": { latest: version },
      versions: { [version]: { ...manifest, dist } },
    }),
  );
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/`));
