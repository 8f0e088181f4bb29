import { Eye, Pencil, ShieldCheck } from "lucide-react";
import { useState } from "react";
import type { Ask } from "../api";
import { useHost } from "../host";
import { formFields } from "../model/schemaForm";
import { timeOrDate } from "../model/time";
import { allows, baseName, shortDigest } from "../model/view";
import { whyWords } from "../model/why";
import { type AskCardModel, editedField, editedInput, inputText } from "../useAskCard";
import type { Translate } from "../words";
import { Files } from "./Files";
import { InputForm } from "./InputForm";
import { Kbd } from "./Kbd";
import { Markdown } from "./Markdown";
import { ButtonWords, leaveOnEscape, ReasonField, ReasonFooter, useWrittenField } from "./notes";
import { PreviewView } from "./PreviewView";
import { RiskLine } from "./RiskLine";
import { Visible } from "./Visible";

/** An approval: the requested action in full and verbatim, and the controls to decide. */
export function ApprovalBody({ model, makeRule }: { model: AskCardModel; makeRule: (() => void) | undefined }) {
  const { t } = useHost();
  const { ask, draft } = model;
  const { approval } = ask;
  const [isReading, setReading] = useReading(model);
  if (!approval) return null;
  const isPlan = approval.action === "plan";
  const fields = editedField(ask) ? undefined : formFields(ask);
  return (
    <>
      <div className="body">
        <div className="ahead">
          <h2 className="qtext" id={`title-${ask.id}`}>
            <Visible text={approvalTitle(t, ask)} />
          </h2>
          {isPlan && allows(ask, "edit") ? (
            <PlanModes model={model} isReading={isReading} setReading={setReading} />
          ) : (
            <span className="chip line">
              <Visible text={approval.tool} />
            </span>
          )}
        </div>
        {ask.why && (
          <p className="why">
            <ShieldCheck className="i" size={14} strokeWidth={1.75} aria-hidden="true" />
            <span>
              <Why text={whyWords(t, ask)} />
            </span>
          </p>
        )}
        {approval.reason && (
          <p className="said">
            <Visible text={approval.reason} />
          </p>
        )}
        {draft.input === null && <PreviewView ask={ask} />}
        {draft.input !== null && isReading && (
          <div className="plan" tabIndex={-1} data-preview>
            <Markdown text={draft.input} />
          </div>
        )}
        {draft.input !== null &&
          !isReading &&
          (fields ? <InputForm model={model} fields={fields} /> : <InputEditor model={model} />)}
        <Files model={model} />
        <RiskLine ask={withCommand(ask, draft.input)} />
        <Facts ask={ask} />
      </div>
      <ReasonField model={model} />
      {draft.reason === null ? <Footer model={model} makeRule={makeRule} /> : <ReasonFooter model={model} />}
    </>
  );
}

/** Whether an edited plan is rendered. Each press of `e` shows the editor. */
function useReading({ draft, writing }: AskCardModel): [boolean, (on: boolean) => void] {
  const edits = writing?.field === "input" ? writing.count : 0;
  const [readAt, setReadAt] = useState<number>();
  return [draft.input === null || readAt === edits, (on) => setReadAt(on ? edits : undefined)];
}

interface PlanModesProps {
  model: AskCardModel;
  isReading: boolean;
  setReading: (on: boolean) => void;
}

/** Switches between reading and editing a plan. Reading keeps the changes. */
function PlanModes({ model, isReading, setReading }: PlanModesProps) {
  const { t } = useHost();
  return (
    <fieldset className="modes" aria-label={t("approval.planModes")}>
      <button
        type="button"
        aria-pressed={isReading}
        onClick={() => {
          setReading(true);
          model.leaveField("input");
        }}
      >
        <Eye size={14} strokeWidth={1.75} aria-hidden="true" />
        {t("approval.read.mode")}
      </button>
      <button
        type="button"
        aria-pressed={!isReading}
        aria-keyshortcuts="e"
        onClick={() => {
          setReading(false);
          model.write("input");
        }}
      >
        <Pencil size={14} strokeWidth={1.75} aria-hidden="true" />
        {t("approval.edit.mode")} <Kbd>e</Kbd>
      </button>
    </fieldset>
  );
}

/** The ask with the command that the person edited instead of the agent's. */
function withCommand(ask: Ask, edited: string | null): Ask {
  if (edited === null || !ask.approval || editedField(ask) !== "command") return ask;
  return { ...ask, approval: { ...ask.approval, command: edited } };
}

/** The directory, the machine, the deadline and the digest. */
function Facts({ ask }: { ask: Ask }) {
  const { t, machine } = useHost();
  const preview = ask.approval?.preview;
  const directory = (preview?.type === "command" && preview.cwd) || ask.project;
  return (
    <dl className="factlist">
      {directory && (
        <div>
          <dt>{t("fact.directory")}</dt>
          <dd className="mono">
            <Visible text={directory} />
          </dd>
        </div>
      )}
      {machine && (
        <div>
          <dt>{t("fact.machine")}</dt>
          <dd>
            <Visible text={machine} />
          </dd>
        </div>
      )}
      <div>
        <dt>{t("fact.deadline")}</dt>
        <dd>{ask.deadlineAt ? t("fact.denyAt", { time: timeOrDate(ask.deadlineAt) }) : t("fact.noDeadline")}</dd>
      </div>
      {ask.digest && (
        <div>
          <dt>{t("fact.digest")}</dt>
          <dd className="mono" title={ask.digest}>
            {shortDigest(ask)}
          </dd>
        </div>
      )}
    </dl>
  );
}

function approvalTitle(t: Translate, ask: Ask): string {
  const { approval } = ask;
  if (!approval) return ask.title;
  const paths = approval.paths ?? [];
  const [path] = paths;
  switch (approval.action) {
    case "run":
      return t("approval.run");
    case "edit":
      return path && paths.length === 1 ? t("approval.edit", { file: baseName(path) }) : several("approval.editMany");
    case "read":
      return path && paths.length === 1 ? t("approval.read", { file: baseName(path) }) : several("approval.readMany");
    case "fetch":
      return t("approval.fetch");
    case "mcp":
      return t("approval.mcp", { server: approval.server ?? approval.tool });
    case "plan":
      return t("approval.plan");
    case "mode":
      return approval.title || t("approval.mode");
    case "other":
      return approval.title || t("approval.other", { tool: approval.tool });
  }
  function several(key: "approval.editMany" | "approval.readMany"): string {
    return paths.length > 0 ? t(key, { count: paths.length }) : (approval?.title ?? "");
  }
}

function InputEditor({ model }: { model: AskCardModel }) {
  const { t } = useHost();
  const field = useWrittenField(model, "input");
  const text = model.draft.input ?? "";
  const wrong = editedInput(model.ask, text) === undefined;
  return (
    <div className="editor">
      <div className="field area mono" data-wrong={wrong}>
        <textarea
          value={text}
          rows={Math.min(24, Math.max(3, text.split("\n").length + 1))}
          aria-label={t("approval.editedInput")}
          aria-invalid={wrong || undefined}
          spellCheck={false}
          ref={field}
          onKeyDown={(event) => leaveOnEscape(event, model, "input")}
          onChange={(event) => model.change({ input: event.target.value })}
        />
      </div>
      {wrong && <p className="wrong">{t("approval.badInput")}</p>}
    </div>
  );
}

function Footer({ model, makeRule }: { model: AskCardModel; makeRule: (() => void) | undefined }) {
  const { t } = useHost();
  const [more, setMore] = useState(false);
  const { ask, draft } = model;
  const plan = ask.approval?.action === "plan";
  const changed = draft.input !== null && draft.input !== inputText(ask);
  const denies = allows(ask, "deny");
  const yes = changed ? "button.approveEdited" : plan ? "button.approvePlan" : "button.approve";
  return (
    <div className="actions" data-more={more}>
      <div className="foot">
        {(changed || allows(ask, "approve")) && (
          <button type="button" className="btn primary" aria-keyshortcuts="a" onClick={() => model.approve()}>
            {t(yes)} <Kbd>{draft.input === null ? "a" : "Ctrl ↵"}</Kbd>
          </button>
        )}
        {denies && (
          <>
            <button type="button" className="btn no" aria-keyshortcuts="d" onClick={() => model.no()}>
              {t("button.deny")} <Kbd>d</Kbd>
            </button>
            <button
              type="button"
              className="btn ghost"
              aria-label={t("button.denyReason")}
              aria-keyshortcuts="r"
              onClick={() => model.write("reason")}
            >
              <ButtonWords long={t("button.denyReason")} short={t("button.reasonShort")} /> <Kbd>r</Kbd>
            </button>
            <button
              type="button"
              className={plan ? "btn ghost rare narrow" : "btn ghost rare"}
              aria-keyshortcuts="Shift+D"
              onClick={() => model.no({ stop: true })}
            >
              {t("button.denyStop")} <Kbd>D</Kbd>
            </button>
          </>
        )}
        <span className="gap" />
        {plan && draft.input === null && <span className="muted wide">{t("approval.planMode")}</span>}
        {draft.input === null ? (
          allows(ask, "edit") && <EditButton model={model} isPlan={plan} />
        ) : (
          <button type="button" className="btn ghost" onClick={() => model.change({ input: null })}>
            {t("button.cancelEdit")}
          </button>
        )}
        <button
          type="button"
          className="btn ghost narrow"
          aria-expanded={more}
          onClick={() => setMore((shown) => !shown)}
        >
          {t("button.more")}
        </button>
      </div>
      <StopAsking model={model} makeRule={makeRule} />
    </div>
  );
}

/** The edit button. On a wide card, a plan has a switch at the top instead. */
function EditButton({ model, isPlan }: { model: AskCardModel; isPlan: boolean }) {
  const { t } = useHost();
  const field = editedField(model.ask);
  const words = field === "command" ? "button.editCommand" : field === "plan" ? "button.editPlan" : "button.edit";
  return (
    <button
      type="button"
      className={isPlan ? "btn ghost narrow" : "btn ghost"}
      aria-label={t(words)}
      aria-keyshortcuts="e"
      onClick={() => model.write("input")}
    >
      <Pencil size={14} strokeWidth={1.75} aria-hidden="true" />
      <ButtonWords long={t(words)} short={t("button.editShort")} /> <Kbd>e</Kbd>
    </button>
  );
}

function StopAsking({ model, makeRule }: { model: AskCardModel; makeRule: (() => void) | undefined }) {
  const { t } = useHost();
  const { ask } = model;
  const choices = allows(ask, "approve") ? (ask.approval?.choices ?? []) : [];
  const plan = ask.approval?.action === "plan";
  const canRule = makeRule && !plan;
  if (choices.length === 0 && !canRule) return null;
  return (
    <div className="foot stop">
      <span className="muted">{t("approval.stopAsking")}</span>
      {choices.map((choice) => (
        <button
          key={choice.id}
          type="button"
          className="btn sm"
          onClick={() => model.approve({ choice: choice.id, label: choice.label })}
        >
          <Visible text={choice.label} />
        </button>
      ))}
      {canRule && (
        <button type="button" className="btn sm" aria-keyshortcuts="m" onClick={makeRule}>
          <ShieldCheck size={14} strokeWidth={1.75} aria-hidden="true" />
          {t("button.rule")} <Kbd>m</Kbd>
        </button>
      )}
      <span className="gap" />
      {choices.length > 0 && <span className="muted">{t("approval.owner", { agent: ask.agent })}</span>}
    </div>
  );
}

/** The reason why a person is asked. Text between backticks is code. */
function Why({ text }: { text: string }) {
  return text.split("`").map((part, index) => {
    const Tag = index % 2 === 0 ? "span" : "code";
    return (
      <Tag key={index}>
        <Visible text={part} />
      </Tag>
    );
  });
}
