import { Check, ChevronRight, Lock } from "lucide-react";
import { useId, useState } from "react";
import type { AskCardActions } from "../AskCard";
import type { Ask, Question, ShownAnswer } from "../api";
import { useHost } from "../host";
import { entryLabel, optionLabel, optionValue } from "../model/draft";
import { titleOf } from "../model/view";
import { secondLine } from "../stateWords";
import type { AskCardModel } from "../useAskCard";
import type { Translate } from "../words";
import { Command } from "./Command";
import { Visible } from "./Visible";

/** How it ended: one row per question, or what was decided about, and then who and how far it came. */
export function Result({ model, actions }: { model: AskCardModel; actions: AskCardActions }) {
  const { t, tokenId } = useHost();
  const { ask, state } = model;
  const answers = ask.outcome?.answers ?? undefined;
  const rows = answers && (state === "answered" || state === "undelivered");
  // Where no message can be sent, the server's own words say why it did not arrive.
  const why = (!actions.sendAsMessage && ask.deliveryReason) || t("line.undelivered");
  const line = state === "undelivered" ? why : secondLine(t, ask, tokenId);
  const words = ask.outcome?.status === "withdrawn" ? undefined : ask.outcome?.message;
  return (
    <div className="res">
      {rows ? (
        (ask.questions ?? []).map((question, index) => (
          <AnswerRow
            key={question.key ?? index}
            question={question}
            answer={answers[index] ?? []}
            first={index === 0}
            askId={ask.id}
          />
        ))
      ) : (
        <Subject ask={ask} />
      )}
      {words && ask.outcome?.by.kind !== "timeout" && (
        <p className="quote">
          “<Visible text={words} />”
        </p>
      )}
      {ask.outcome?.note && (
        <p className="sub">
          <Visible text={t("line.note", { note: ask.outcome.note })} />
        </p>
      )}
      <p className="sub">
        <Visible text={line} />{" "}
        {ask.outcome?.by.kind === "policy" && actions.editRule && (
          <button type="button" className="link" onClick={() => actions.editRule?.(ask)}>
            {t("button.editRule")}
          </button>
        )}
      </p>
      <Lost model={model} />
      {state === "undelivered" && <WaysOut ask={ask} actions={actions} t={t} />}
    </div>
  );
}

function Subject({ ask }: { ask: Ask }) {
  const title = titleOf(ask);
  return (
    <div className={title.code ? "cmd" : "q"} id={`title-${ask.id}`}>
      {title.code ? <Command text={title.text} /> : <Visible text={title.text} />}
    </div>
  );
}

interface AnswerRowProps {
  question: Question;
  answer: ShownAnswer;
  first: boolean;
  askId: string;
}

function AnswerRow({ question, answer, first, askId }: AnswerRowProps) {
  const { t } = useHost();
  const [open, setOpen] = useState(false);
  const details = useId();
  const secret = !Array.isArray(answer);
  const entries = secret ? [] : answer;
  const named = entries.map((entry) => entryLabel(question, entry));
  const Icon = secret ? Lock : Check;
  return (
    <div id={first ? `title-${askId}` : undefined}>
      <button type="button" className="ln" aria-expanded={open} aria-controls={details} onClick={() => setOpen(!open)}>
        <Icon className="i" size={16} strokeWidth={1.75} aria-hidden="true" />
        <span className="q">
          [<Visible text={question.header || question.text} />]
        </span>
        <AnswerWords secret={secret} entries={named} t={t} />
        <ChevronRight className="i turn" size={14} aria-hidden="true" />
      </button>
      {open && (
        <div className="quote" id={details}>
          <div>
            <Visible text={question.text} />
          </div>
          <Offered question={question} entries={entries} t={t} />
        </div>
      )}
    </div>
  );
}

function AnswerWords({ secret, entries, t }: { secret: boolean; entries: string[]; t: Translate }) {
  if (secret) return <span>{t("result.secret")}</span>;
  if (entries.length === 0) return <span className="sub">{t("result.none")}</span>;
  return (
    <span>
      {t("result.selected")}{" "}
      <b>
        <Visible text={entries.map((entry) => `“${entry}”`).join(", ")} />
      </b>
    </span>
  );
}

function Offered({ question, entries, t }: { question: Question; entries: string[]; t: Translate }) {
  const options = question.options ?? [];
  const own = entries.filter((entry) => !options.some((option) => optionValue(option) === entry));
  const parts: string[] = [];
  if (options.length > 0) parts.push(t("result.offered", { options: options.map(optionLabel).join(", ") }));
  if (options.length > 0) parts.push(...own.map((text) => t("result.other", { text })));
  if (options.length === 0) parts.push(...own);
  return (
    <div className="sub">
      <Visible text={parts.join(" ")} />
    </div>
  );
}

/** Somebody else was first: the choice that was not sent is kept to copy. */
function Lost({ model }: { model: AskCardModel }) {
  const { t, copy } = useHost();
  const { sending } = model;
  if (sending?.phase !== "lost") return null;
  const { by } = sending.outcome;
  const terminal = by.via === "terminal" || by.via === "cli";
  const winner = terminal ? t("winner.terminal") : t("winner.other", { name: by.name ?? by.rule ?? by.kind });
  return (
    <p className="sub">
      <Visible text={t("line.lost", { winner, answer: sending.label })} />{" "}
      <button type="button" className="link" onClick={() => copy(sending.label)}>
        {t("button.copyIt")}
      </button>
    </p>
  );
}

function WaysOut({ ask, actions, t }: { ask: Ask; actions: AskCardActions; t: Translate }) {
  const text = (ask.outcome?.answers ?? []).flatMap((answer) => (Array.isArray(answer) ? answer : [])).join("\n");
  return (
    <div className="hstack">
      {actions.sendAsMessage && text && (
        <button type="button" className="btn sm" onClick={() => actions.sendAsMessage?.(ask, text)}>
          {t("button.message")}
        </button>
      )}
      {actions.leave && (
        <button type="button" className="btn ghost sm" onClick={() => actions.leave?.(ask)}>
          {t("button.leave")}
        </button>
      )}
    </div>
  );
}
