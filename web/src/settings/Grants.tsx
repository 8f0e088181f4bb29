import { fullDate, Visible } from "@sayso/react";
import { queries, useMutation, useQuery } from "../api/useQuery";
import { useWords } from "../i18n";
import { useClient, useIsAdmin } from "../live/hooks";
import { allowedBy } from "../rule/model";

/** Temporary permissions. */
export function Grants() {
  const t = useWords();
  const client = useClient();
  const isAdmin = useIsAdmin();
  const { data } = useQuery({ queryKey: ["policy"], queryFn: client.policy });
  const revoke = useMutation({
    mutationFn: client.revokeGrant,
    onSettled: () => queries.invalidate(["policy"]),
  });
  if (!data || data.grants.length === 0) return null;
  return (
    <>
      <h3>{t("policy.grants")}</h3>
      <ul className="box grants">
        {data.grants.map((grant) => (
          <li key={grant.id}>
            <span className="grow">
              {allowedBy(grant).map(([on, pattern]) => (
                <span key={`${on} ${pattern}`} className="allowed">
                  {t(`rule.on.${on}`)} <code>{<Visible text={pattern} />}</code>
                </span>
              ))}
              <span className="muted">
                <Visible text={grant.project ?? t("rule.everywhere")} />
              </span>
            </span>
            <span className="muted">{grant.until ? fullDate(grant.until) : ""}</span>
            {isAdmin && (
              <button type="button" className="btn no sm" onClick={() => revoke.mutate(grant.id)}>
                {t("button.revoke")}
              </button>
            )}
          </li>
        ))}
      </ul>
      {revoke.error && <p className="wrong">{revoke.error.message}</p>}
    </>
  );
}
