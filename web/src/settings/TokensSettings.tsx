import { useHost, useNow, Visible, whenWords } from "@sayso/react";
import { useState } from "react";
import type { Token } from "../api/client";
import { queries, useMutation, useQuery } from "../api/useQuery";
import { useCardWords, useWords } from "../i18n";
import { useClient } from "../live/hooks";
import { Segments } from "../ui/Segments";
import { AddPhone } from "./AddPhone";

const ROLES = ["answerer", "viewer", "agent", "admin"] as const;

/** The tokens of browsers, people and programs. */
export function TokensSettings() {
  const t = useWords();
  const client = useClient();
  const refresh = () => queries.invalidate(["tokens"]);
  const { data } = useQuery({ queryKey: ["tokens"], queryFn: client.tokens });
  const revoke = useMutation({ mutationFn: client.revoke, onSettled: refresh });
  return (
    <section className="pane" aria-label={t("settings.tokens")}>
      <div className="bar">
        <h2>{t("settings.tokens")}</h2>
      </div>
      <div className="form">
        <AddPhone />
        <NewToken onMade={refresh} />
        <table>
          <thead>
            <tr>
              <th>{t("tokens.actor")}</th>
              <th>{t("tokens.role")}</th>
              <th>{t("tokens.scope")}</th>
              <th>{t("tokens.made")}</th>
              <th>{t("tokens.used")}</th>
              <th>{t("tokens.ends")}</th>
              <td />
            </tr>
          </thead>
          <tbody>
            {(data ?? []).map((token) => (
              <TokenRow key={token.id} token={token} onRevoke={() => revoke.mutate(token.id)} />
            ))}
          </tbody>
        </table>
        {revoke.error && <p className="wrong">{revoke.error.message}</p>}
      </div>
    </section>
  );
}

function TokenRow({ token, onRevoke }: { token: Token; onRevoke: () => void }) {
  const t = useWords();
  const words = useCardWords();
  const now = useNow(15_000);
  const { tokenId } = useHost();
  const scope = [token.sessionId, ...Object.entries(token.labels ?? {}).map(([key, value]) => `${key}=${value}`)]
    .filter(Boolean)
    .join(", ");
  const date = (at: string | null | undefined) => (at ? whenWords(words, at, now) : "–");
  return (
    <tr data-over={Boolean(token.revokedAt)}>
      <td>
        <Visible text={token.actor} />
        {token.device && (
          <span className="muted">
            , <Visible text={token.device} />
          </span>
        )}{" "}
        {token.id === tokenId && <span className="chip">{t("tokens.this")}</span>}
      </td>
      <td>{t(`role.${token.role}`)}</td>
      <td>
        <Visible text={scope || t("tokens.all")} />
      </td>
      <td className="num">{date(token.createdAt)}</td>
      <td className="num">{date(token.lastUsedAt)}</td>
      <td className="num">{token.revokedAt ? t("tokens.revoked") : date(token.expiresAt)}</td>
      <td>
        {!token.revokedAt && (
          <button type="button" className="btn no sm" onClick={onRevoke}>
            {t("button.revoke")}
          </button>
        )}
      </td>
    </tr>
  );
}

function NewToken({ onMade }: { onMade: () => void }) {
  const t = useWords();
  const client = useClient();
  const [actor, setActor] = useState("");
  const [role, setRole] = useState<(typeof ROLES)[number]>("answerer");
  const make = useMutation({ mutationFn: () => client.newToken({ role, actor, labels: {} }), onSuccess: onMade });
  return (
    <form
      className="box pad"
      onSubmit={(event) => {
        event.preventDefault();
        if (actor.trim()) make.mutate();
      }}
    >
      <div className="hstack">
        <div className="field">
          <input
            value={actor}
            placeholder={t("tokens.name")}
            aria-label={t("tokens.name")}
            onChange={(event) => setActor(event.target.value)}
          />
        </div>
        <Segments
          label={t("tokens.role")}
          value={role}
          options={ROLES.map((value) => ({ value, label: t(`role.${value}`) }))}
          onChange={setRole}
        />
        <button type="submit" className="btn sm" disabled={!actor.trim() || make.isPending}>
          {t("button.newToken")}
        </button>
      </div>
      {make.error && <p className="wrong">{make.error.message}</p>}
      {make.data?.token && (
        <>
          <p className="muted">{t("tokens.shownOnce")}</p>
          <pre className="cmdline">{make.data.token}</pre>
        </>
      )}
    </form>
  );
}
