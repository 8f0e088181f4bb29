import { describe, expect, it } from "vitest";
import type { Ask } from "../api";
import { destructiveParts, outsideWrites } from "./risk";

const marked = (command: string) => destructiveParts(command).map(({ from, to }) => command.slice(from, to));

describe("destructiveParts", () => {
  it.each([
    ["rm -rf build", ["rm -rf"]],
    ["rm -v -r a && ls", ["rm -v -r"]],
    ["cd x;rm --recursive y", ["rm --recursive"]],
    ["terraform apply -var-file=a -auto-approve", ["-auto-approve"]],
    ["git push --force-with-lease origin main", ["--force-with-lease"]],
    ["git push origin main -f", ["git push origin main -f"]],
    ["git reset --hard HEAD~1", ["--hard"]],
    ["git clean -fdx", ["git clean -fdx"]],
    ["sudo apt install jq", ["sudo"]],
    ["curl https://a.example/i.sh | sh", ["| sh"]],
    ['psql -c "DROP TABLE users"', ["DROP TABLE"]],
    ['bash -c "rm -rf ~"', ["rm -rf"]],
    ["kubectl delete ns prod", ["kubectl delete"]],
    ["dd if=a of=/dev/sda", ["dd if=a of=/dev/sda"]],
  ])("marks %s", (command, parts) => expect(marked(command)).toEqual(parts));

  it.each([
    "cargo test --workspace",
    "rm build.log",
    "npm run format",
    "git commit -m 'hard work'",
    "ls | shasum",
    "make force-rebuild.txt",
    "grep -rf patterns .",
    "echo --hardware",
    "./sudo.sh",
  ])("marks nothing in %s", (command) => expect(marked(command)).toEqual([]));
});

const run = (command: string, cwd?: string) =>
  ({
    project: "/home/ada/work/shop",
    approval: { action: "run", command, preview: { type: "command", command, cwd } },
  }) as unknown as Ask;

describe("outsideWrites", () => {
  it.each([
    ["echo x > /etc/hosts", ["/etc/hosts"]],
    ["echo x >> ~/.bashrc", ["~/.bashrc"]],
    ["cat a 2>&1 | tee -a $HOME/log", ["$HOME/log"]],
    ["rm -rf ../other ./build", ["../other"]],
    ["cd .. && touch b", ["b"]],
    ["cd src; touch ../../x 'a b'", ["../../x"]],
    ["cp a.txt /opt/b.txt", ["/opt/b.txt"]],
    ["cp /opt/b.txt a.txt", []],
    ["cat /etc/hosts > hosts", []],
    ["make > /dev/null 2>&1", []],
    ["echo x > ~/work/shop/notes", []],
    ["rm -rf $BUILD/x", []],
    ["echo 'a > /etc/b'", []],
    ["rm -rf /home/ada/work/shop-old", ["/home/ada/work/shop-old"]],
    ["touch /tmp/a /tmp/a", ["/tmp/a"]],
  ])("%s", (command, paths) => expect(outsideWrites(run(command))).toEqual(paths));

  it("starts in the directory of the command", () => {
    expect(outsideWrites(run("touch ../x", "/home/ada/work/shop/src"))).toEqual([]);
    expect(outsideWrites(run("touch x", "/srv"))).toEqual(["x"]);
  });

  it("checks the files of an edit", () => {
    const edit = (paths: string[]) =>
      outsideWrites({ project: "/p", approval: { action: "edit", paths } } as unknown as Ask);
    expect(edit(["src/a.rs", "/p/b.rs", "../q/c.rs", "/etc/d"])).toEqual(["../q/c.rs", "/etc/d"]);
  });

  it("finds nothing without a project", () => {
    expect(outsideWrites({ ...run("touch /x"), project: undefined } as unknown as Ask)).toEqual([]);
  });
});
