// A key decides once per press. Browsers mark repeated events of a key that is held down, but remote desktops and some keyboards
// send plain ones. Therefore this module also listens for key-ups.

const pressed = new Set<string>();
const repeated = new WeakSet<KeyboardEvent>();

if (typeof window !== "undefined") {
  window.addEventListener(
    "keydown",
    (event) => {
      if (!event.code || event.ctrlKey || event.metaKey) return;
      if (pressed.has(event.code)) repeated.add(event);
      pressed.add(event.code);
    },
    true,
  );
  window.addEventListener("keyup", (event) => pressed.delete(event.code), true);
  window.addEventListener("blur", () => pressed.clear());
}

/** Whether the key has not been released since its last event. */
export const isHeldDown = (event: KeyboardEvent): boolean => event.repeat || repeated.has(event);
