/** One tab of a browser leads: it holds the stream and passes the events on. */
export interface Election {
  stop: () => void;
}

const LOCK = "sayso.stream";
const LEASE = "sayso.leader";
const LEASE_MS = 5000;
const RENEW_MS = 1500;

/**
 * Calls `lead` when this tab is the one, and what that returns when it is no longer. With Web Locks where they are, else
 * with a lease in the storage. A lease may be held twice for a moment; that costs a second stream and nothing else,
 * because events are taken once by their place in the feed.
 */
export function elect(id: string, lead: () => () => void): Election {
  return typeof navigator !== "undefined" && navigator.locks ? byLock(lead) : byLease(id, lead);
}

function byLock(lead: () => () => void): Election {
  const waiting = new AbortController();
  let release: () => void = () => {};
  const held = () =>
    new Promise<void>((resolve) => {
      const resign = lead();
      release = () => {
        resign();
        resolve();
      };
    });
  navigator.locks.request(LOCK, { signal: waiting.signal }, held).catch(() => {});
  return {
    stop: () => {
      waiting.abort();
      release();
    },
  };
}

function byLease(id: string, lead: () => () => void): Election {
  let resign: (() => void) | undefined;
  const tick = () => {
    const leader = readLease();
    const free = !leader || leader.id === id || leader.until < Date.now();
    if (free && writeLease({ id, until: Date.now() + LEASE_MS })) resign ??= lead();
    else if (resign) {
      resign();
      resign = undefined;
    }
  };
  const timer = setInterval(tick, RENEW_MS);
  tick();
  return {
    stop: () => {
      clearInterval(timer);
      resign?.();
      if (readLease()?.id === id) localStorage.removeItem(LEASE);
    },
  };
}

interface Lease {
  id: string;
  until: number;
}

function readLease(): Lease | undefined {
  try {
    return (JSON.parse(localStorage.getItem(LEASE) ?? "null") as Lease | null) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Where there is no storage to share, every tab leads itself. */
function writeLease(lease: Lease): boolean {
  try {
    localStorage.setItem(LEASE, JSON.stringify(lease));
  } catch {
    // Every tab for itself.
  }
  return true;
}
