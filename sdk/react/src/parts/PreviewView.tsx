import type { Ask } from "../api";
import { useHost } from "../host";
import { Command } from "./Command";
import { DiffView } from "./DiffView";
import { Markdown } from "./Markdown";
import { Visible } from "./Visible";

/** The preview of an approval, in full and never folded. */
export function PreviewView({ ask }: { ask: Ask }) {
  const { approval } = ask;
  if (!approval) return null;
  const { preview } = approval;
  const input = (approval.input ?? {}) as Record<string, unknown>;
  if (preview?.type === "command") {
    return (
      <>
        <CommandBlock text={preview.command} isShell />
        <Rest input={input} shown={["command"]} />
      </>
    );
  }
  if (preview?.type === "diff") return preview.files.map((file) => <DiffView key={file.path} file={file} />);
  if (preview?.type === "plan") {
    return (
      <div className="plan" tabIndex={-1} data-preview>
        <Markdown text={preview.text} />
      </div>
    );
  }
  if (preview?.type === "text") return <CommandBlock text={preview.text} />;
  const line = approval.command ?? approval.url;
  return (
    <>
      {line && <CommandBlock text={line} isShell={approval.command !== undefined} />}
      {!line && (approval.paths ?? []).map((path) => <CommandBlock key={path} text={path} />)}
      <Rest input={input} shown={line ? ["command", "url"] : []} />
    </>
  );
}

function CommandBlock({ text, isShell = false }: { text: string; isShell?: boolean }) {
  return (
    <pre className="cmd" tabIndex={-1} data-preview>
      <Command text={text} isShell={isShell} />
    </pre>
  );
}

/** The other input of the tool. */
function Rest({ input, shown }: { input: Record<string, unknown>; shown: string[] }) {
  const { t } = useHost();
  const rest = Object.entries(input).filter(([key]) => !shown.includes(key));
  if (rest.length === 0) return null;
  return (
    <div className="rest">
      <p className="muted">{t("approval.input")}</p>
      <pre className="cmd">
        <Visible text={JSON.stringify(Object.fromEntries(rest), null, 2)} />
      </pre>
    </div>
  );
}
