import { showToast } from '../toasts.tsx';

/**
 * Copies text and reports success or failure with a toast.
 *
 * @param what a name for the text, shown in the toast, such as `ID`.
 */
export async function copyText(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    showToast({ text: `${what} copied` });
  } catch {
    // For example, browsers block the clipboard on pages loaded over plain HTTP from another
    // machine.
    showToast({ text: `${what} not copied: the browser blocks the clipboard` });
  }
}
