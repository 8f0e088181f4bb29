/** A key that does the same as the button it stands on. Not read aloud: `aria-keyshortcuts` says it. */
export function Kbd({ children }: { children: string }) {
  return (
    <span className="kbd" aria-hidden="true">
      {children}
    </span>
  );
}
