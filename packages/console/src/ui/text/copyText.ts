import { showToast } from '../toasts.tsx';

/**
 * Copies by key, where no button beside it could say so.
 * @param what such as `Id`.
 */
export async function copyText(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    showToast({ text: `${what} copied` });
  } catch {
    // As over plain HTTP from another machine.
    showToast({ text: `${what} not copied: the browser does not allow it here` });
  }
}
