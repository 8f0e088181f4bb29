import { decideWith, SaysoProvider } from "@sayso/react";
import { useCallback, useEffect, useMemo, useState } from "react";
import { Client } from "../api/client";
import { forgetIdentity, type Identity } from "../api/token";
import { queries, useRefresh } from "../api/useQuery";
import { setLanguage, useCardWords, useWords } from "../i18n";
import { LiveContext } from "../live/hooks";
import { Live } from "../live/live";
import { copyText } from "../ui/copy";
import { isLoopback } from "../ui/loopback";
import { Login } from "./Login";
import { showNotice } from "./notice";
import { usePrefs } from "./prefs";
import { Shell } from "./Shell";

/** The page: the sign-in form, or the signed-in page. */
export function App() {
  const [identity, setIdentity] = useState<Identity>();
  const { theme, language } = usePrefs();
  useEffect(() => void setLanguage(language), [language]);
  useEffect(() => {
    document.documentElement.lang = language;
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  }, [theme, language]);
  const signOut = useCallback(() => {
    forgetIdentity();
    queries.clear();
    setIdentity(undefined);
  }, []);
  if (!identity) return <Login onSignedIn={setIdentity} />;
  return <SignedIn key={identity.tokenId} identity={identity} onSignedOut={signOut} />;
}

function SignedIn({ identity, onSignedOut }: { identity: Identity; onSignedOut: () => void }) {
  const { holdMs, oneClick } = usePrefs();
  useRefresh();
  const translate = useCardWords();
  const t = useWords();
  const copy = useCallback(
    (text: string) => {
      copyText(text);
      showNotice(t("button.copied"));
    },
    [t],
  );
  const client = useMemo(() => new Client(identity.token, onSignedOut), [identity.token, onSignedOut]);
  const [live, setLive] = useState<Live>();
  useEffect(() => {
    const started = new Live(client, onSignedOut);
    setLive(started);
    return () => started.stop();
  }, [client, onSignedOut]);
  const decide = useMemo(() => decideWith(client.sayso, (ask) => live?.store.takeAsks([ask])), [client, live]);
  const value = useMemo(() => live && { live, client, role: identity.role }, [live, client, identity.role]);
  if (!value) return null;
  return (
    <LiveContext value={value}>
      <SaysoProvider
        decide={decide}
        translate={translate}
        holdMs={holdMs}
        oneClick={oneClick}
        readOnly={identity.role === "viewer"}
        tokenId={identity.tokenId}
        copy={copy}
        readAsk={client.ask}
        readFiles={client.sayso.asks.files}
        machine={isLoopback(location.hostname) ? t("live.here") : location.hostname}
      >
        <Shell onSignOut={onSignedOut} />
      </SaysoProvider>
    </LiveContext>
  );
}
