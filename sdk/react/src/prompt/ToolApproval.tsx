import { allows } from "../model/view";
import { PreviewView } from "../parts/PreviewView";
import { Visible } from "../parts/Visible";
import { Frame } from "./Frame";
import { useToolApproval } from "./useToolCall";

/** Properties of {@link ToolApproval}. */
export interface ToolApprovalProps {
  /** The session of the tool call. */
  sessionId: string;
  /** The tool call that needs an approval. */
  toolCallId: string;
  /** The name of the tool. */
  toolName: string;
  /** The arguments of the gateway stream, as JSON text. */
  input: string;
  /** Whether the ask was decided elsewhere. */
  settled?: boolean;
}

/** The approval of a tool call: approve or deny. */
export function ToolApproval({ settled = false, ...props }: ToolApprovalProps) {
  const card = useToolApproval(props);
  const { model, host } = card;
  return (
    <Frame card={card} settled={settled}>
      <div className="body">
        <div className="ahead">
          <h2 className="qtext" id={`title-${model.ask.id}`}>
            <Visible text={host.t("approval.other", { tool: props.toolName })} />
          </h2>
        </div>
        <PreviewView ask={model.ask} />
      </div>
      <div className="foot">
        {allows(model.ask, "approve") && (
          <button type="button" className="btn primary" onClick={() => model.approve()}>
            {host.t("button.approve")}
          </button>
        )}
        {allows(model.ask, "deny") && (
          <button type="button" className="btn no" onClick={() => model.no()}>
            {host.t("button.deny")}
          </button>
        )}
      </div>
    </Frame>
  );
}
