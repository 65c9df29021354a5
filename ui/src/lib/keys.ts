/** Keys of the window. Nothing happens while somebody types, but for Escape. */

export type Bindings = Record<string, () => void>;

/** Whether a key belongs to what is focused rather than to the window. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) {
    return !['checkbox', 'radio', 'button', 'submit', 'range', 'file'].includes(target.type);
  }
  return (
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement ||
    target.isContentEditable
  );
}

/** Does what a key stands for; whether there was something. */
export function press(event: KeyboardEvent, bindings: Bindings): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return false;
  if (event.key !== 'Escape' && isTyping(event.target)) return false;
  // A focused button or link has Enter and Space for itself.
  if (
    (event.key === 'Enter' || event.key === ' ') &&
    event.target instanceof Element &&
    event.target.closest('button, a, summary, input') !== null
  ) {
    return false;
  }
  const action = bindings[event.key];
  if (!action) return false;
  event.preventDefault();
  action();
  return true;
}
