import { showToast } from '../toasts.tsx';

/**
 * Copies a text for a shortcut and confirms it with a toast.
 * @param what a name for the text, e.g. `Id`.
 */
export async function copyText(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    showToast({ text: `${what} copied` });
  } catch {
    // E.g. over plain HTTP from another machine.
    showToast({ text: `${what} not copied: the browser blocks the clipboard` });
  }
}
