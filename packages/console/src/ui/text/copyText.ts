import { showToast } from '../toasts.ts';

/**
 * Copies text and reports the outcome with a toast.
 *
 * @param what a name for the text, shown in the toast, such as `ID`.
 */
export async function copyText(text: string, what: string): Promise<void> {
  if (await toClipboard(text)) showToast({ text: `${what} copied` });
  else showNotCopied(what);
}

/** Reports that text was not copied, and how to copy it by hand. */
export const showNotCopied = (what: string): void =>
  showToast({
    text: `${what} not copied. The browser blocked the clipboard: select the text and copy it`,
    tone: 'bad',
  });

/** Copies text to the clipboard. Returns whether it was copied. */
export async function toClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Browsers provide the clipboard API only on HTTPS and on localhost. The older command also
    // works on pages loaded over plain HTTP.
    return copyByCommand(text);
  }
}

function copyByCommand(text: string): boolean {
  let isCopied = false;
  const onCopy = (event: ClipboardEvent): void => {
    event.clipboardData?.setData('text/plain', text);
    event.preventDefault();
    event.stopImmediatePropagation();
    isCopied = true;
  };
  const focused = document.activeElement;
  // Some browsers run the command only with a selection. Everything outside an open dialog is inert,
  // so the text is selected inside the dialog.
  const field = document.createElement('textarea');
  field.value = text;
  field.setAttribute('aria-hidden', 'true');
  field.style.cssText = 'position:fixed;inset:0 auto auto 0;width:1px;height:1px;opacity:0';
  (focused?.closest('dialog') ?? document.body).append(field);
  field.select();
  document.addEventListener('copy', onCopy, { capture: true, once: true });
  try {
    // oxlint-disable-next-line typescript/no-deprecated -- the only way on plain HTTP
    return document.execCommand('copy') && isCopied;
  } finally {
    document.removeEventListener('copy', onCopy, { capture: true });
    field.remove();
    if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  }
}
