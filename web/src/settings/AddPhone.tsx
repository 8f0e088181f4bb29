import { timeOrDate } from "@sayso/react";
import { useState } from "react";
import { encode } from "uqr";
import type { Listeners } from "../api/client";
import { useMutation } from "../api/useQuery";
import { useWords } from "../i18n";
import { useClient } from "../live/hooks";
import { copyText } from "../ui/copy";
import { isLoopback } from "../ui/loopback";

/** A sign-in link for a phone with its QR code. If no phone can reach the server, first offers to open an address. */
export function AddPhone() {
  const t = useWords();
  const client = useClient();
  const [question, setQuestion] = useState<{ address: string; secure: boolean }>();
  const link = useMutation({
    mutationFn: async (opened?: string) => {
      const address = opened ?? reachable(await client.listeners(), setQuestion);
      if (!address) return undefined;
      const { code, expiresAt } = await client.phoneCode();
      return { url: `${address}/#code=${code}`, expiresAt };
    },
  });
  const open = useMutation({
    mutationFn: (address: string) => client.openListener(address),
    onSuccess: ({ url }) => {
      setQuestion(undefined);
      link.mutate(url);
    },
  });
  const error = link.error ?? open.error;
  return (
    <div className="box pad">
      <div className="hstack">
        <span className="grow">{t("tokens.phone")}</span>
        <button type="button" className="btn sm" onClick={() => link.mutate(undefined)}>
          {t("button.phone")}
        </button>
      </div>
      {error && (
        <p className="wrong" role="alert">
          {error.message === NO_NETWORK ? t("phone.noNetwork") : error.message}
        </p>
      )}
      {question && (
        <div className="openq" role="group" aria-label={t("phone.question")}>
          <p>
            {t("phone.open", { address: question.address })} {!question.secure && t("phone.plain")}
          </p>
          <div className="hstack">
            <button
              type="button"
              className="btn primary sm"
              disabled={open.isPending}
              onClick={() => open.mutate(question.address)}
            >
              {t("button.openAddress", { address: question.address })}
            </button>
            <button type="button" className="btn sm" onClick={() => setQuestion(undefined)}>
              {t("button.notNow")}
            </button>
          </div>
        </div>
      )}
      {link.data && <PhoneLink {...link.data} />}
    </div>
  );
}

function PhoneLink({ url, expiresAt }: { url: string; expiresAt: string }) {
  const t = useWords();
  return (
    <div className="phonelink">
      <QrCode text={url} label={t("phone.qr")} />
      <div>
        <p>{t("phone.scan")}</p>
        <pre className="cmdline">{url}</pre>
        <div className="hstack">
          <span className="muted grow">{t("tokens.once", { time: timeOrDate(expiresAt) })}</span>
          <button type="button" className="btn sm" onClick={() => copyText(url)}>
            {t("button.copyAsk")}
          </button>
        </div>
      </div>
    </div>
  );
}

/** Dark on light in all themes, because many scanners read only that. */
function QrCode({ text, label }: { text: string; label: string }) {
  const { data, size } = encode(text, { border: 4 });
  const squares = data.flatMap((row, y) => row.flatMap((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : [])));
  return (
    <svg className="qr" role="img" aria-label={label} viewBox={`0 0 ${size} ${size}`} shapeRendering="crispEdges">
      <rect width={size} height={size} fill="#fff" />
      <path d={squares.join("")} fill="#000" />
    </svg>
  );
}

const NO_NETWORK = "no network";

/** The address at which a phone can reach the server. Without one, offers to open the suggested address. */
function reachable(
  { data, publicUrl, suggested, certificate }: Listeners,
  ask: (question: { address: string; secure: boolean }) => void,
): string | undefined {
  if (!isLoopback(location.hostname)) return location.origin;
  const opened = data.find(({ url }) => !isLoopback(new URL(url).hostname));
  const known = publicUrl ?? opened?.url;
  if (known) return known;
  if (!suggested) throw new Error(NO_NETWORK);
  ask({ address: suggested, secure: Boolean(certificate) });
  return undefined;
}
