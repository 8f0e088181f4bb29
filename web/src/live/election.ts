/** Elects one tab of a browser as the leader, which holds the event stream and shares it with the other tabs. */
export interface Election {
  stop: () => void;
}

const LOCK = "sayso.stream";
const LEASE = "sayso.leader";
const LEASE_MS = 5000;
const RENEW_MS = 1500;

/**
 * Calls `lead` when this tab becomes the leader, and the function that `lead` returned when it stops being the leader. Uses Web
 * Locks, or a lease in the local storage without them. Two tabs can hold a lease for a moment. That only costs a second stream,
 * because tabs ignore events that they already have.
 */
export function elect(id: string, lead: () => () => void): Election {
  return typeof navigator !== "undefined" && navigator.locks ? electByLock(lead) : electByLease(id, lead);
}

function electByLock(lead: () => () => void): Election {
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

function electByLease(id: string, lead: () => () => void): Election {
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

/** Without shared storage, every tab is its own leader. */
function writeLease(lease: Lease): boolean {
  try {
    localStorage.setItem(LEASE, JSON.stringify(lease));
  } catch {
    // No storage: this tab is its own leader.
  }
  return true;
}
