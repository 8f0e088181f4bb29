/** The keyboard shortcut of a button. Hidden from screen readers, which read `aria-keyshortcuts`. */
export function Kbd({ children }: { children: string }) {
  return (
    <span className="kbd" aria-hidden="true">
      {children}
    </span>
  );
}
