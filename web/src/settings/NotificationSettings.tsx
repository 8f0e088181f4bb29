import { spanWords, Visible } from "@sayso/react";
import type { Channel } from "../api/client";
import { useMutation, useQuery } from "../api/useQuery";
import { useCardWords, useWords } from "../i18n";
import { useClient } from "../live/hooks";

/** The notification channels, each with a test button. */
export function NotificationSettings() {
  const t = useWords();
  const client = useClient();
  const channels = useQuery({ queryKey: ["channels"], queryFn: client.channels });
  return (
    <section className="pane" aria-label={t("settings.notifications")}>
      <div className="bar">
        <h2>{t("settings.notifications")}</h2>
      </div>
      <div className="form prefs">
        {channels.error && <p className="wrong">{channels.error.message}</p>}
        {channels.data?.data.length === 0 && <p className="muted">{t("channels.none")}</p>}
        {channels.data?.data.map((channel) => (
          <ChannelRow key={channel.name} channel={channel} />
        ))}
        <p className="muted">{t("channels.where")}</p>
      </div>
    </section>
  );
}

function ChannelRow({ channel }: { channel: Channel }) {
  const t = useWords();
  const words = useCardWords();
  const client = useClient();
  const test = useMutation({ mutationFn: () => client.testChannel(channel.name) });
  const failure = test.data?.data.find((one) => !one.sent)?.failure ?? channel.lastFailure ?? undefined;
  const facts = [channel.kind, channel.after && t("channels.after", { time: spanWords(words, channel.after) })].filter(
    (fact): fact is string => Boolean(fact),
  );
  return (
    <section className="pref" aria-label={channel.name}>
      <span className="grow">
        <b>
          <Visible text={channel.name} />
        </b>{" "}
        <span className="muted">
          <Visible text={facts.join(" · ")} />
        </span>
        {failure && (
          <span className="wrong">
            {" "}
            <Visible text={failure} />
          </span>
        )}
        {test.error && <span className="wrong"> {test.error.message}</span>}
        {test.isSuccess && !failure && (
          <span className="ok" role="status">
            {" "}
            {t("channels.sent")}
          </span>
        )}
      </span>
      <button type="button" className="btn sm" disabled={test.isPending} onClick={() => test.mutate()}>
        {t("channels.test")}
      </button>
    </section>
  );
}
