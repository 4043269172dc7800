/**
 * Keeps unsaved drafts of forms in the browser, so that they survive an expired session, a reload
 * and a crash of the tab. A sign-out removes them.
 */
const PREFIX = 'sluice.draft.';

/** Returns a stored draft; undefined if there is none or it cannot be read. */
export function readDraft(name: string): unknown {
  try {
    const stored = localStorage.getItem(PREFIX + name);
    return stored === null ? undefined : JSON.parse(stored);
  } catch {
    return undefined;
  }
}

/** Stores a draft; undefined removes it. */
export function storeDraft(name: string, draft: unknown): void {
  try {
    if (draft === undefined) localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, JSON.stringify(draft));
  } catch {
    // If storage is blocked or full, the draft lasts until the page is closed.
  }
}

export function removeDrafts(): void {
  try {
    for (const key of Object.keys(localStorage)) {
      if (key.startsWith(PREFIX)) localStorage.removeItem(key);
    }
  } catch {
    // Without storage, there are no drafts.
  }
}
