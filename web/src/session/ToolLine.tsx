import { type Ask, Visible } from "@sayso/react";
import { ChevronRight, LoaderCircle, SquareTerminal, TriangleAlert } from "lucide-react";
import { useState } from "react";
import { useCardWords } from "../i18n";
import type { Tool } from "./transcript";

/** A tool call in one line. A click shows its input and output. */
export function ToolLine({ tool, ask }: { tool: Tool; ask: Ask | undefined }) {
  const words = useCardWords();
  const [open, setOpen] = useState(false);
  const by = ask?.outcome?.by;
  const allowed = ask?.status === "approved" || ask?.status === "answered";
  const Icon = tool.status === "running" ? LoaderCircle : tool.status === "error" ? TriangleAlert : SquareTerminal;
  return (
    <div className="toolbox">
      <button
        type="button"
        className="tool"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        data-status={tool.status}
      >
        <Icon size={14} strokeWidth={1.75} aria-hidden="true" />
        <span className="mono cut">
          <Visible text={summary(tool)} />
        </span>
        <span className="grow" />
        {by?.kind === "policy" && (
          <span className="chip" data-status={allowed ? "ok" : "failed"}>
            <Visible text={words(allowed ? "state.byRule.allow" : "state.byRule.deny", { rule: by.rule ?? "" })} />
          </span>
        )}
        <ChevronRight className="turn" size={14} aria-hidden="true" />
      </button>
      {open && (
        <div className="toolmore">
          <pre>
            <Visible text={typeof tool.input === "string" ? tool.input : JSON.stringify(tool.input ?? {}, null, 2)} />
          </pre>
          {tool.output && (
            <pre>
              <Visible text={tool.output} />
            </pre>
          )}
        </div>
      )}
    </div>
  );
}

function summary(tool: Tool): string {
  const input = (tool.input ?? {}) as Record<string, unknown>;
  for (const key of ["command", "file_path", "path", "url", "pattern"]) {
    if (typeof input[key] === "string") return key === "command" ? input[key] : `${tool.name} ${input[key]}`;
  }
  return tool.name;
}
