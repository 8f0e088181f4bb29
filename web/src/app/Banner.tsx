import { timeOrDate, useNow } from "@sayso/react";
import { Moon, WifiOff } from "lucide-react";
import { useEffect, useState } from "react";
import { queries, useMutation, useQuery } from "../api/useQuery";
import { useWords } from "../i18n";
import { useClient, useConnection, useIsAdmin, useLive } from "../live/hooks";
import { useQueued } from "./useDecisions";

/** How long the page is disconnected before it shows the banner, in milliseconds. */
const GRACE_MS = 800;

/** Shows that the page is disconnected, or that the away rules apply. */
export function Banner() {
  const t = useWords();
  const { tryNow } = useLive();
  const connection = useConnection();
  const now = useNow(1000);
  const queued = useQueued();
  const lost = connection.state !== "open";
  const [shown, setShown] = useState(false);
  useEffect(() => {
    if (!lost) {
      setShown(false);
      return;
    }
    const timer = setTimeout(() => setShown(true), GRACE_MS);
    return () => clearTimeout(timer);
  }, [lost]);
  if (!shown && queued > 0) {
    return (
      <div className="banner" role="alert">
        <WifiOff size={16} strokeWidth={1.75} aria-hidden="true" />
        <span>{t("live.queued", { count: queued })}</span>
      </div>
    );
  }
  if (!shown) return <AwayBanner />;
  const seconds = connection.state === "waiting" ? Math.max(0, Math.ceil((connection.retryAt - now) / 1000)) : 0;
  return (
    <div className="banner" role="alert">
      <WifiOff size={16} strokeWidth={1.75} aria-hidden="true" />
      <span>{t("live.banner", { seconds })}</span>
      <span className="soft">{queued > 0 ? t("live.queued", { count: queued }) : t("live.bannerMore")}</span>
      <button type="button" className="btn sm" onClick={tryNow}>
        {t("button.tryNow")}
      </button>
    </div>
  );
}

function AwayBanner() {
  const t = useWords();
  const client = useClient();
  const isAdmin = useIsAdmin();
  const { data: policy } = useQuery({ queryKey: ["policy"], queryFn: client.policy });
  const back = useMutation({
    mutationFn: () => client.profile({ name: null }),
    onSettled: () => queries.invalidate(["policy"]),
  });
  if (policy?.profile?.name !== "away") return null;
  return (
    <div className="banner away" role="status">
      <Moon size={16} strokeWidth={1.75} aria-hidden="true" />
      <span>{policy.profile.until ? t("away.until", { time: timeOrDate(policy.profile.until) }) : t("away.on")}</span>
      {isAdmin && (
        <button type="button" className="btn sm" onClick={() => back.mutate()}>
          {t("button.back")}
        </button>
      )}
    </div>
  );
}
