export { AskCard, type AskCardActions, type AskCardProps } from "./AskCard";
export * from "./api";
export { decideWith } from "./decide";
export { isHeldDown } from "./heldKeys";
export { type Host, SaysoProvider, type SaysoProviderProps, useHost, useNow, useSending } from "./host";
export { readDiff, statOf } from "./model/diff";
export { Drafts, entryLabel, optionValue } from "./model/draft";
export { pieces, plain, webAddress } from "./model/invisible";
export { APPROVAL_QUEUE_MS, type Decide, DecideError, type NewDecision, Sender, type Sending } from "./model/sender";
export { serverText } from "./model/serverText";
export {
  age,
  clock,
  countdown,
  dayAndMonth,
  duration,
  fullDate,
  spanWords,
  timeOrDate,
  whenWords,
} from "./model/time";
export {
  allows,
  baseName,
  type CardState,
  contentOf,
  isOpen,
  shortDigest,
  stateOf,
  takesTyping,
  titleOf,
} from "./model/view";
export { whyWords } from "./model/why";
export { Command } from "./parts/Command";
export { KindIcon, StateIcon } from "./parts/icons";
export { Kbd } from "./parts/Kbd";
export { Markdown } from "./parts/Markdown";
export { PreviewView } from "./parts/PreviewView";
export { risksOf } from "./parts/RiskLine";
export { AgentTile } from "./parts/Source";
export { Visible } from "./parts/Visible";
export { MessageItem, type MessageItemProps } from "./prompt/MessageItem";
export { QuestionPrompt, type QuestionPromptProps } from "./prompt/QuestionPrompt";
export { ToolApproval, type ToolApprovalProps } from "./prompt/ToolApproval";
export { type ToolCallCard, useQuestionPrompt, useToolApproval } from "./prompt/useToolCall";
export { sendingWords } from "./stateWords";
export { type AskCardModel, useAskCard } from "./useAskCard";
export { type AsksView, type UseAsksOptions, useAsks } from "./useAsks";
export { isTyping, KEY_GRACE_MS, useCardKeys, useKeyGrace } from "./useCardKeys";
export { type LiveSession, useSession } from "./useSession";
export { en, type Translate, translator, type WordKey, type Words, zhCN } from "./words";
