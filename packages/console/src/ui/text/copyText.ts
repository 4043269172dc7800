import { showToast } from '../toasts.tsx';

/**
 * Copies text and confirms it with a toast.
 * @param what a name for the text, such as `ID`.
 */
export async function copyText(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    showToast({ text: `${what} copied` });
  } catch {
    // The clipboard is not available over plain HTTP from another machine, for example.
    showToast({ text: `${what} not copied: the browser blocks the clipboard` });
  }
}
