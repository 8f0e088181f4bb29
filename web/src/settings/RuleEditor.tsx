import { useEffect, useId, useState } from "react";
import type { PolicyRule } from "../api/client";
import { useWords } from "../i18n";
import { CONDITIONS } from "../rule/model";
import { Segments } from "../ui/Segments";
import {
  ABOUT,
  type About,
  aboutOf,
  complete,
  effectsOf,
  effectWords,
  isAboutEverything,
  withAbout,
  withEffect,
  withField,
} from "./policyRule";
import { RuleEnd } from "./RuleEnd";
import { Tokens } from "./Tokens";

interface RuleEditorProps {
  rule: PolicyRule;
  isNew?: boolean;
  readOnly: boolean;
  /** Writes the rule into the text. Rejects if the rule is incomplete. */
  onApply: (rule: PolicyRule) => Promise<unknown>;
  onRemove: () => void;
  /** The places that the rule can move to. Empty if the order does not matter. */
  onMove: { up?: (() => void) | undefined; down?: (() => void) | undefined } | undefined;
}

/** The fields of one rule. Changes are written into the text immediately if the rule is complete. */
export function RuleEditor({ rule: given, isNew, readOnly, onApply, onRemove, onMove }: RuleEditorProps) {
  const t = useWords();
  const id = useId();
  const [rule, setRule] = useState(given);
  const [wrong, setWrong] = useState("");
  useEffect(() => setRule(given), [given]);
  const about = aboutOf(rule);
  const apply = (next: PolicyRule) => {
    setRule(next);
    // A rule without patterns matches everything. It is kept only if the file already has it like that.
    if (isAboutEverything(next) && (isNew || !isAboutEverything(given))) return setWrong(t("policy.needsPattern"));
    onApply(complete(next)).then(
      () => setWrong(""),
      (error: Error) => setWrong(error.message),
    );
  };
  const text = (key: "name" | "project" | "header" | "match" | "message", label: string, hint: string, mono = true) => (
    <>
      <label htmlFor={`${id}${key}`}>{label}</label>
      <div className={mono ? "field mono" : "field"}>
        <input
          id={`${id}${key}`}
          value={rule[key] ?? ""}
          placeholder={hint}
          readOnly={readOnly}
          spellCheck={false}
          onChange={(event) => setRule({ ...rule, [key]: event.target.value })}
          onBlur={(event) => {
            if (event.target.value !== (given[key] ?? "")) apply(withField(rule, key, event.target.value));
          }}
          onKeyDown={(event) => {
            if (event.key === "Enter" && !event.nativeEvent.isComposing) event.currentTarget.blur();
          }}
        />
      </div>
    </>
  );
  return (
    <fieldset className="frm in" disabled={readOnly}>
      {text("name", t("policy.name"), "", false)}
      <label htmlFor={`${id}about`}>{t("policy.about")}</label>
      <select
        id={`${id}about`}
        className="btn select"
        value={about}
        onChange={(event) => setRule(withAbout(rule, event.target.value as About))}
      >
        {ABOUT.map((one) => (
          <option key={one} value={one}>
            {one === "question" ? t("policy.questions") : t(`rule.on.${one}`)}
          </option>
        ))}
      </select>
      <span>{t("policy.then")}</span>
      <Segments
        label={t("policy.then")}
        value={rule.do}
        options={effectsOf(about).map((value) => ({ value, label: t(effectWords(value)) }))}
        onChange={(effect) => apply(withEffect(rule, effect))}
      />
      {CONDITIONS.filter((on) => on === about || rule[on]).map((on) => (
        <Labelled key={on} words={t(`rule.on.${on}`)}>
          <Tokens
            label={t(`rule.on.${on}`)}
            add={t("policy.addPattern")}
            values={rule[on] ?? []}
            readOnly={readOnly}
            onChange={(patterns) => apply({ ...rule, [on]: patterns })}
          />
        </Labelled>
      ))}
      {about === "question" && text("header", t("policy.header"), t("policy.matchPlaceholder"))}
      {about === "question" && text("match", t("policy.match"), t("policy.matchPlaceholder"))}
      {rule.do === "answer" && (
        <Labelled words={t("policy.answer")}>
          <Tokens
            label={t("policy.answer")}
            add={rule.pick ? `#${rule.pick}` : t("policy.answer")}
            values={rule.answer ?? []}
            readOnly={readOnly}
            onChange={(answer) => apply(withField({ ...withField(rule, "pick", undefined) }, "answer", answer))}
          />
        </Labelled>
      )}
      {(rule.do === "deny" || rule.do === "reject") && text("message", t("policy.message"), "", false)}
      {text("project", t("policy.project"), t("rule.everywhere"))}
      <Labelled words={t("policy.agents")}>
        <Tokens
          label={t("policy.agents")}
          add={t("policy.anyAgent")}
          values={rule.agent ?? []}
          readOnly={readOnly}
          onChange={(agent) => apply(withField(rule, "agent", agent))}
        />
      </Labelled>
      <span>{t("policy.until")}</span>
      <RuleEnd until={rule.until ?? undefined} onChange={(until) => apply(withField(rule, "until", until))} />
      {wrong && (
        <p className="wrong wide" role="alert">
          {t("policy.incomplete", { reason: wrong })}
        </p>
      )}
      {!readOnly && (
        <div className="wide hstack">
          <span className="muted grow">{t(onMove ? "policy.order" : "policy.noOrder")}</span>
          {onMove && (
            <>
              <button type="button" className="btn sm" disabled={!onMove.up} onClick={onMove.up}>
                {t("policy.up")}
              </button>
              <button type="button" className="btn sm" disabled={!onMove.down} onClick={onMove.down}>
                {t("policy.down")}
              </button>
            </>
          )}
          <button type="button" className="btn no sm" onClick={onRemove}>
            {t("policy.removeRule")}
          </button>
        </div>
      )}
    </fieldset>
  );
}

function Labelled({ words, children }: { words: string; children: React.ReactNode }) {
  return (
    <>
      <span>{words}</span>
      {children}
    </>
  );
}
