import { useEffect, useState } from "react";
import { Client } from "../api/client";
import { type Identity, keepIdentity, readIdentity, readLoginCode } from "../api/token";
import { useWords } from "../i18n";
import { isLoopback } from "../ui/loopback";
import { Brand } from "./Brand";

/** Signs this browser in with the code in the address, or with the stored token. */
export function Login({ onSignedIn }: { onSignedIn: (identity: Identity) => void }) {
  const t = useWords();
  const [problem, setProblem] = useState<"none" | "signedOut" | "badCode">("none");
  const [pasted, setPasted] = useState("");
  useEffect(() => {
    const enter = () => {
      const code = readLoginCode(location, history);
      const kept = readIdentity();
      if (code) {
        redeem(code)
          .then(onSignedIn)
          .catch(() => (kept ? onSignedIn(kept) : setProblem("badCode")));
      } else if (kept) onSignedIn(kept);
      else setProblem("signedOut");
    };
    enter();
    // A link that is opened in the same tab changes only the fragment of the address.
    window.addEventListener("hashchange", enter);
    return () => window.removeEventListener("hashchange", enter);
  }, [onSignedIn]);
  if (problem === "none") return null;
  return (
    <main className="signin">
      <Brand />
      <h1>{t(problem === "badCode" ? "login.badCode" : "login.title")}</h1>
      <p>{t("login.how")}</p>
      <pre className="cmdline">{isLoopback(location.hostname) ? "sayso login" : "sayso phone"}</pre>
      <form
        className="hstack"
        onSubmit={(event) => {
          event.preventDefault();
          redeem(codeOf(pasted))
            .then(onSignedIn)
            .catch(() => setProblem("badCode"));
        }}
      >
        <div className="field">
          <input
            value={pasted}
            placeholder={t("login.paste")}
            aria-label={t("login.paste")}
            onChange={(event) => setPasted(event.target.value)}
          />
        </div>
        <button type="submit" className="btn" disabled={!pasted.trim()}>
          {t("button.signIn")}
        </button>
      </form>
    </main>
  );
}

/** The code in a pasted link. A page on the home screen has no address bar. */
const codeOf = (link: string): string => link.trim().replace(/^.*#code=/, "");

let redeeming: { code: string; identity: Promise<Identity> } | undefined;

/** Exchanges a code for a token. Codes work once, so repeated calls share one request. */
function redeem(code: string): Promise<Identity> {
  if (redeeming?.code === code) return redeeming.identity;
  const identity = new Client(undefined).login(code, deviceName()).then((created) => {
    if (!created.token) throw new Error("no token");
    const signedIn = { token: created.token, tokenId: created.id, role: created.role };
    keepIdentity(signedIn);
    return signedIn;
  });
  redeeming = { code, identity };
  return identity;
}

function deviceName(): string {
  // More specific names come first: Android also reports Linux.
  const named = (...names: string[]) => names.find((name) => navigator.userAgent.includes(name));
  const system = named("Android", "iPhone", "iPad", "Windows", "Mac OS", "Linux") ?? "browser";
  const browser = named("Firefox", "Edg", "Chrome", "Safari") ?? "";
  return `${browser} ${system}`.trim();
}
