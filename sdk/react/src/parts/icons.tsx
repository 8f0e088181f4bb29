import {
  AlarmClock,
  ArrowUp,
  Ban,
  CircleCheck,
  CircleHelp,
  CirclePause,
  CircleX,
  Clock,
  ExternalLink,
  FileDiff,
  FileText,
  Globe,
  ListChecks,
  type LucideIcon,
  Plug,
  ShieldCheck,
  ShieldX,
  SquareTerminal,
  TriangleAlert,
  Wrench,
} from "lucide-react";
import type { Ask } from "../api";
import type { CardState } from "../model/view";

const ACTIONS: Record<string, LucideIcon> = {
  run: SquareTerminal,
  edit: FileDiff,
  read: FileText,
  fetch: Globe,
  mcp: Plug,
  plan: ListChecks,
};

function kindIcon(ask: Ask): LucideIcon {
  if (ask.kind === "question") return CircleHelp;
  if (ask.kind === "link") return ExternalLink;
  return ACTIONS[ask.approval?.action ?? ""] ?? Wrench;
}

function stateIcon(ask: Ask, state: CardState): LucideIcon {
  const by = ask.outcome?.by.kind;
  switch (state) {
    case "pending":
      return kindIcon(ask);
    case "parked":
      return CirclePause;
    case "snoozed":
      return AlarmClock;
    case "sending":
      return ArrowUp;
    case "undelivered":
      return TriangleAlert;
    case "withdrawn":
      return Ban;
    case "answered":
      return by === "policy" ? ShieldCheck : CircleCheck;
    case "rejected":
      if (by === "policy") return ShieldX;
      return by === "timeout" ? Clock : ask.outcome?.stop ? Ban : CircleX;
  }
}

/** The icon of the kind of an ask. */
export function KindIcon({ ask, size = 16 }: { ask: Ask; size?: number }) {
  const Icon = kindIcon(ask);
  return <Icon className="i" size={size} strokeWidth={1.75} aria-hidden="true" />;
}

/** The icon of the state of an ask. */
export function StateIcon({ ask, state, size = 16 }: { ask: Ask; state: CardState; size?: number }) {
  const Icon = stateIcon(ask, state);
  return <Icon className="i" size={size} strokeWidth={1.75} aria-hidden="true" />;
}
