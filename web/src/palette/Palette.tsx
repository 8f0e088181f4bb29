import {
  Bot,
  CornerDownLeft,
  Inbox,
  type LucideIcon,
  Search,
  SlidersHorizontal,
  Smartphone,
  Workflow,
} from "lucide-react";
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { useQuery } from "../api/useQuery";
import { go } from "../app/route";
import { useShell } from "../app/shellContext";
import { useWords } from "../i18n";
import { ordered } from "../inbox/order";
import { useClient, useIsAdmin, useMayAnswer, usePending, useSessions } from "../live/hooks";
import { useRuns } from "../runs/useRuns";
import { Dialog } from "../ui/Dialog";
import { findPlaces, PLACE_GROUPS, type Place, type PlaceGroup, placesOf } from "./places";

const ICONS: Record<PlaceGroup, LucideIcon> = {
  asks: Inbox,
  sessions: Bot,
  runs: Workflow,
  devices: Smartphone,
  pages: SlidersHorizontal,
};

/** The palette, which opens asks, sessions, runs, devices and settings by name. */
export function Palette({ open, onClose }: { open: boolean; onClose: () => void }) {
  const t = useWords();
  return (
    <Dialog open={open} onClose={onClose} title={t("palette.title")} bare>
      <PaletteBody onClose={onClose} />
    </Dialog>
  );
}

function PaletteBody({ onClose }: { onClose: () => void }) {
  const t = useWords();
  const { setDialog } = useShell();
  const places = usePlaces();
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  const found = useMemo(() => findPlaces(places, query), [places, query]);
  const active = found[Math.min(at, found.length - 1)];
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (active) list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [active]);
  const choose = ({ target }: Place) => {
    // The dialog returns the focus to the previous control. An Enter that is held down would press that control.
    flushSync(onClose);
    document.getElementById("content")?.focus();
    if (typeof target === "string") setDialog(target);
    else go(target);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) setAt((now) => (Math.min(now, found.length - 1) + step + found.length) % Math.max(1, found.length));
    else if (event.key === "Enter" && active) choose(active);
    else return;
    event.preventDefault();
  };
  return (
    <div className="palette">
      <div className="find">
        <Search size={16} strokeWidth={1.75} aria-hidden="true" />
        <input
          // biome-ignore lint/a11y/noAutofocus: the dialog is there to type into
          autoFocus
          role="combobox"
          aria-expanded={found.length > 0}
          aria-controls="palette-list"
          aria-activedescendant={active ? `place-${active.id}` : undefined}
          aria-label={t("palette.label")}
          placeholder={t("palette.label")}
          value={query}
          spellCheck={false}
          autoComplete="off"
          onChange={(event) => {
            setQuery(event.target.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <div className="found" role="listbox" id="palette-list" aria-label={t("palette.title")} ref={list}>
        {PLACE_GROUPS.map((group) => {
          const inGroup = found.filter((place) => place.group === group);
          return (
            inGroup.length > 0 && (
              <div key={group} role="group" aria-labelledby={`palette-${group}`}>
                <div className="group" id={`palette-${group}`} role="presentation">
                  {t(`palette.${group}`)}
                </div>
                {inGroup.map((place) => (
                  <PlaceRow key={place.id} place={place} active={place === active} onChoose={() => choose(place)} />
                ))}
              </div>
            )
          );
        })}
      </div>
      {found.length === 0 && (
        <p className="none" role="status">
          {t("inbox.noMatch", { text: query })}
        </p>
      )}
    </div>
  );
}

function PlaceRow({ place, active, onChoose }: { place: Place; active: boolean; onChoose: () => void }) {
  const Icon = ICONS[place.group];
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys
    <div className="place" role="option" id={`place-${place.id}`} aria-selected={active} onClick={onChoose}>
      <Icon size={16} strokeWidth={1.75} aria-hidden="true" />
      <span className={place.code ? "cut t mono" : "cut t"}>{place.title}</span>
      <span className="cut muted">{place.detail}</span>
      {active && <CornerDownLeft size={14} strokeWidth={1.75} aria-hidden="true" />}
    </div>
  );
}

function usePlaces(): Place[] {
  const t = useWords();
  const client = useClient();
  const isAdmin = useIsAdmin();
  const mayAnswer = useMayAnswer();
  const pending = usePending();
  const sessions = useSessions();
  const runs = useRuns();
  const { data: tokens } = useQuery({ queryKey: ["tokens"], queryFn: client.tokens, enabled: isAdmin });
  return useMemo(() => {
    const order = new Map(ordered(pending, Date.now()).map(({ id }, index) => [id, index]));
    const asks = pending.toSorted((a, b) => (order.get(a.id) ?? 0) - (order.get(b.id) ?? 0));
    return placesOf({ asks, sessions, runs, tokens: tokens ?? [], mayAnswer, isAdmin, t });
  }, [pending, sessions, runs, tokens, mayAnswer, isAdmin, t]);
}
