import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, it, vi } from "vitest";
import { AskCard } from "../AskCard";
import type { Ask, AskFiles, Decision } from "../api";
import { SaysoProvider } from "../host";
import { DecideError } from "../model/sender";
import { anApproval } from "../test/asks";

const path = "/home/ada/work/shop-api/deploy.sh";
const executing = (change: Partial<NonNullable<Ask["executes"]>> = {}): Ask => ({
  ...anApproval(),
  executes: { files: [path], unlisted: false, readable: true, ...change },
});
const files = (text: string, digest: string): AskFiles => ({
  digest,
  unlisted: false,
  files: [{ path, text, truncated: false, size: text.length, digest: "f".repeat(64) }],
});

afterEach(cleanup);

describe("files that a command executes", () => {
  it("are shown, and an approval carries their digest", async () => {
    const read = vi.fn<(id: string) => Promise<AskFiles>>();
    read.mockResolvedValueOnce(files("echo staging", "d1")).mockResolvedValue(files("echo production", "d2"));
    const diff = "@@ -1,1 +1,1 @@\n-echo staging\n+echo production\n";
    const sent: Decision[] = [];
    const decide = async (_: string, decision: Decision) => {
      sent.push(decision);
      if (sent.length === 1) throw new DecideError("changed", { changes: [{ path, diff }] });
    };
    render(
      <SaysoProvider decide={decide} readFiles={read} holdMs={0}>
        <AskCard ask={executing()} />
      </SaysoProvider>,
    );
    expect(await screen.findByText("echo staging")).toBeTruthy();
    expect(screen.getByText("The agent can still change these files after you approve.")).toBeTruthy();
    await userEvent.click(screen.getByRole("button", { name: /^Approve/ }));

    expect(await screen.findByText(/^Not approved: a file that this command executes has changed/)).toBeTruthy();
    expect(screen.getByText("Changed since you looked")).toBeTruthy();
    expect(await screen.findByText("echo production", { selector: "pre *, pre" })).toBeTruthy();
    await userEvent.click(screen.getByRole("button", { name: /^Approve/ }));
    expect(sent).toEqual([
      { kind: "approve", contentDigest: "d1" },
      { kind: "approve", contentDigest: "d2" },
    ]);
  });

  it("are not loaded with view-only access, or outside sessions that the server started", () => {
    const read = vi.fn<(id: string) => Promise<AskFiles>>();
    for (const [readOnly, readable] of [
      [true, true],
      [false, false],
    ] as const) {
      render(
        <SaysoProvider decide={async () => {}} readFiles={read} readOnly={readOnly}>
          <AskCard ask={executing({ readable, unlisted: true })} />
        </SaysoProvider>,
      );
      expect(screen.getByText("Content not available")).toBeTruthy();
      expect(screen.getByText("Runs code from the project")).toBeTruthy();
      cleanup();
    }
    expect(read).not.toHaveBeenCalled();
  });
});
