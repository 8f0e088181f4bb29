import type { SessionItem } from "@sayso/sdk";
import { Markdown } from "../parts/Markdown";
import { Visible } from "../parts/Visible";
import { QuestionPrompt } from "./QuestionPrompt";
import { ToolApproval } from "./ToolApproval";

/** Properties of {@link MessageItem}. */
export interface MessageItemProps {
  /** The session of the entry. */
  sessionId: string;
  /** The entry, from {@link useSession}. */
  item: SessionItem;
  /** Whether a click on an option of a single question sends it. */
  oneClick?: boolean;
}

/** One entry of a session: a message, a tool call, or the ask about it. */
export function MessageItem({ sessionId, item, oneClick = false }: MessageItemProps) {
  if (item.kind === "text") return <Markdown text={item.text} />;
  const { toolCallId, toolName, input, status, interactiveType, questions } = item.call;
  const settled = status !== "pending";
  if (interactiveType === "question" && questions) {
    return <QuestionPrompt {...{ sessionId, toolCallId, questions, oneClick, settled }} />;
  }
  if (interactiveType === "approval") return <ToolApproval {...{ sessionId, toolCallId, toolName, input, settled }} />;
  return (
    <p className="sayso-tool" data-status={status}>
      <Visible text={toolName} />
    </p>
  );
}
