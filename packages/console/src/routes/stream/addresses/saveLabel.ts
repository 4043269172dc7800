import { showToast } from '../../../ui/toasts.ts';

/**
 * Saves a label, and shows a toast that can undo the change or that reports the error.
 * @param save saves this label; an empty one removes the label.
 */
export async function saveLabel(
  before: string | undefined,
  next: string,
  save: (label: string) => Promise<void>,
): Promise<void> {
  try {
    await save(next);
    showToast({
      text: next === '' ? 'Label removed.' : 'Label saved.',
      undo: () => save(before ?? '').then(() => 'Label restored.'),
    });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    showToast({ text: `Couldn't save the label: ${why}`, tone: 'bad' });
  }
}
