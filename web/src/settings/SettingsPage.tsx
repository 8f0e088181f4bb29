import { Bell, Bot, KeyRound, type LucideIcon, ShieldCheck, SlidersHorizontal } from "lucide-react";
import { hrefOf, SETTINGS, type SettingsSection } from "../app/route";
import { useWords } from "../i18n";
import { useIsAdmin } from "../live/hooks";
import { AgentsSettings } from "./AgentsSettings";
import { NotificationSettings } from "./NotificationSettings";
import { PageSettings } from "./PageSettings";
import { PolicySettings } from "./PolicySettings";
import { TokensSettings } from "./TokensSettings";

const ICONS: Record<SettingsSection, LucideIcon> = {
  policy: ShieldCheck,
  agents: Bot,
  tokens: KeyRound,
  notifications: Bell,
  page: SlidersHorizontal,
};

interface SettingsProps {
  section: SettingsSection;
  rule: string | undefined;
  onSignOut: () => void;
}

const ADMIN_ONLY: readonly SettingsSection[] = ["tokens", "notifications"];

/** The settings: policy, agents, tokens, notifications and preferences. Some are only for admins. */
export function SettingsPage({ section: wanted, rule, onSignOut }: SettingsProps) {
  const t = useWords();
  const isAdmin = useIsAdmin();
  const sections = SETTINGS.filter((one) => isAdmin || !ADMIN_ONLY.includes(one));
  const section = sections.includes(wanted) ? wanted : "page";
  return (
    <div className="set">
      <nav className="subnav" aria-label={t("nav.settings")}>
        <h1>{t("nav.settings")}</h1>
        {sections.map((one) => {
          const Icon = ICONS[one];
          return (
            <a
              key={one}
              className="nav"
              href={hrefOf({ page: "settings", section: one })}
              aria-current={one === section ? "page" : undefined}
            >
              <Icon size={16} strokeWidth={1.75} aria-hidden="true" />
              <span className="grow">{t(`settings.${one}`)}</span>
            </a>
          );
        })}
      </nav>
      {section === "policy" && <PolicySettings rule={rule} />}
      {section === "agents" && <AgentsSettings />}
      {section === "tokens" && <TokensSettings />}
      {section === "notifications" && <NotificationSettings />}
      {section === "page" && <PageSettings onSignOut={onSignOut} />}
    </div>
  );
}
