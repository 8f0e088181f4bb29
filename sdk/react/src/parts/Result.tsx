import { Check, ChevronRight, Copy, Lock } from "lucide-react";
import { useId, useState } from "react";
import type { AskCardActions } from "../AskCard";
import type { Ask, Question, ShownAnswer } from "../api";
import { useHost } from "../host";
import { entryLabel, optionLabel, optionValue } from "../model/draft";
import { serverText } from "../model/serverText";
import { decisionWords } from "../model/unsent";
import { shortDigest, titleOf } from "../model/view";
import { secondLine, winnerWords } from "../stateWords";
import type { AskCardModel } from "../useAskCard";
import type { Translate } from "../words";
import { Command } from "./Command";
import { Visible } from "./Visible";

/** The outcome: one row for each question or the title of the ask, then the actor and the delivery. */
export function Result({ model, actions }: { model: AskCardModel; actions: AskCardActions }) {
  const { t, tokenId } = useHost();
  const { ask, state } = model;
  const answers = ask.outcome?.answers ?? undefined;
  const rows = answers && (state === "answered" || state === "undelivered");
  // Without `sendAsMessage` the card cannot offer the message, so it shows the reason from the server.
  const reason = !actions.sendAsMessage && serverText(t, ask.deliveryReason ?? "", ask.deliveryCode);
  const why = reason || t("line.undelivered");
  const line = state === "undelivered" ? why : secondLine(t, ask, tokenId);
  const { message, messageCode } = ask.outcome ?? {};
  const words = message && ask.outcome?.status !== "withdrawn" && serverText(t, message, messageCode);
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
            cut={ask.outcome?.by.kind !== "person"}
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
        {line && (
          <>
            <Visible text={line} />{" "}
          </>
        )}
        {ask.approval && ask.digest && (
          <span className="mono" title={ask.digest}>
            {t("line.digest", { digest: shortDigest(ask) })}{" "}
          </span>
        )}
        {ask.outcome?.by.kind === "policy" && actions.editRule && (
          <button type="button" className="link" onClick={() => actions.editRule?.(ask)}>
            {t("button.editRule")}
          </button>
        )}
      </p>
      <Lost model={model} />
      {state === "undelivered" && <UndeliveredActions ask={ask} actions={actions} t={t} />}
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
  /** Whether a long answer is cut to one line until the row is opened, because no person wrote it. */
  cut: boolean;
}

function AnswerRow({ question, answer, first, askId, cut }: AnswerRowProps) {
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
        <AnswerWords secret={secret} entries={named} cut={cut && !open} t={t} />
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

interface AnswerWordsProps {
  secret: boolean;
  entries: string[];
  cut: boolean;
  t: Translate;
}

function AnswerWords({ secret, entries, cut, t }: AnswerWordsProps) {
  if (secret) return <span>{t("result.secret")}</span>;
  if (entries.length === 0) return <span className="sub">{t("result.none")}</span>;
  return (
    <span className={cut ? "answer cut" : "answer"}>
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

/** The unsent answer, to copy, after another person or rule decided the ask. */
function Lost({ model }: { model: AskCardModel }) {
  const { t, copy } = useHost();
  const { ask, sending } = model;
  const lost = sending?.phase === "lost" ? sending : undefined;
  const answer = lost ? decisionWords(ask, lost.label, lost.decision) : model.unsent;
  if (!answer) return null;
  const winner = lost && winnerWords(t, lost.outcome);
  return (
    <div className="unsent">
      <p className="sub">
        <Visible text={winner ? t("line.lost", { winner, answer }) : t("line.unsent", { answer })} />
      </p>
      <button type="button" className="btn sm" onClick={() => copy(answer)}>
        <Copy className="i" size={14} strokeWidth={1.75} aria-hidden="true" />
        {t("button.copyIt")}
      </button>
    </div>
  );
}

function UndeliveredActions({ ask, actions, t }: { ask: Ask; actions: AskCardActions; t: Translate }) {
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
