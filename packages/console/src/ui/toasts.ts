/** Keeps the toasts that report completed or failed actions. */
export interface Toast {
  text: string;
  /** `bad` marks an error, which is shown for the same time as a toast with an Undo button. */
  tone?: 'bad';
  /** Undoes the action and returns the text of the toast that confirms it. */
  undo?: () => Promise<string>;
}

export interface ShownToast extends Toast {
  id: number;
}

let shown: readonly ShownToast[] = [];
let lastId = 0;
export const shownToasts = (): readonly ShownToast[] => shown;

const listeners = new Set<() => void>();

const setShown = (next: readonly ShownToast[]): void => {
  shown = next;
  for (const listener of listeners) listener();
};

export const subscribeToasts = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const isPlain = ({ tone, undo }: Toast): boolean => tone === undefined && undo === undefined;

export const dismissToast = (id: number): void => setShown(shown.filter((each) => each.id !== id));

/**
 * Shows a toast. A plain toast replaces the previous plain one; errors and toasts with an Undo
 * button are not replaced.
 */
export function showToast(toast: Toast): void {
  const others = isPlain(toast) ? shown.filter((each) => !isPlain(each)) : shown;
  setShown([...others, { ...toast, id: ++lastId }]);
}

export async function undoToast({ id, undo: takeBack }: ShownToast): Promise<void> {
  if (takeBack === undefined) return;
  dismissToast(id);
  try {
    showToast({ text: await takeBack() });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    showToast({ text: `Couldn't undo: ${why}`, tone: 'bad' });
  }
}
