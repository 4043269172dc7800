/**
 * Manages the session. The API key is exchanged for an HttpOnly cookie and then discarded, so that
 * no script can read it later.
 */
import { useSyncExternalStore } from 'react';
import { sluice } from './queries/service.ts';
import { removeDrafts } from '../ui/form/storedDrafts.ts';
import { parseKeyFragment } from './search.ts';

/**
 * Whether the user is signed in. Checked once per page load, then updated when a session starts or
 * ends.
 */
let signedIn: Promise<boolean> | null = null;

/** The last known result of `signedIn`; undefined before the first. */
let known: boolean | undefined;
const listeners = new Set<() => void>();

function show(is: boolean | undefined): void {
  known = is;
  for (const listener of listeners) listener();
}

function setSignedIn(result: Promise<boolean>): void {
  signedIn = result;
  show(undefined);
  void result.then((is) => {
    if (signedIn === result) show(is);
  });
}

/** Returns whether the user is signed in; undefined before the session has been checked. */
export const knownSession = (): boolean | undefined => known;

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useSession = (): boolean | undefined => useSyncExternalStore(subscribe, knownSession);

/** Error of the last sign-in through a link, shown on the sign-in page; null if there was none. */
let linkError: unknown = null;

export const lastLinkError = (): unknown => linkError;

/** @throws SluiceError with a user-facing message. */
export async function signIn(apiKey: string, sessionName?: string): Promise<void> {
  await sluice.createSession(apiKey, { sessionName });
  markSession(true);
  linkError = null;
}

export async function signOut(): Promise<void> {
  await sluice.deleteSession();
  removeDrafts();
  endSession();
}

/** Marks the session as ended, after a rejected request or a sign-out. */
export function endSession(): void {
  markSession(false);
}

function markSession(is: boolean): void {
  signedIn = Promise.resolve(is);
  show(is);
}

/**
 * Returns whether the user is signed in. If the check fails, returns true, because the pages show
 * better errors.
 */
export function isSignedIn(): Promise<boolean> {
  if (signedIn === null) setSignedIn(sluice.checkSession().catch(() => true));
  return signedIn!;
}

/**
 * Signs in with the key of a `…#key=…` link. First removes the key from the address bar and the
 * history.
 * @returns whether there was a key.
 */
export function signInFromFragment(): boolean {
  const apiKey = parseKeyFragment(location.hash);
  if (apiKey === null) return false;
  history.replaceState(history.state, '', location.pathname + location.search);
  setSignedIn(
    signIn(apiKey).then(
      () => true,
      (error: unknown) => {
        linkError = error;
        return false;
      },
    ),
  );
  return true;
}
