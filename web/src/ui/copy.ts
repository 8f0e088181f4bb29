/** Copies text. Also works on pages over plain HTTP, which have no clipboard API. */
export function copyText(text: string): void {
  if (navigator.clipboard && window.isSecureContext) {
    void navigator.clipboard.writeText(text);
    return;
  }
  const field = document.createElement("textarea");
  field.value = text;
  field.style.position = "fixed";
  field.style.opacity = "0";
  document.body.append(field);
  const before = document.activeElement;
  field.select();
  document.execCommand("copy");
  field.remove();
  if (before instanceof HTMLElement) before.focus();
}
