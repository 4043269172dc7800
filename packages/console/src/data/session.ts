/**
 * Manages the session. The API key is exchanged for an HttpOnly cookie and then discarded, so that
 * no script can read it later.
 */
import { sluice } from './queries/service.ts';
import { parseKeyFragment } from './search.ts';

/**
 * Whether the user is signed in. Checked once per page load, then updated when a session starts or
 * ends.
 */
let signedIn: Promise<boolean> | null = null;

/** Error of the last sign-in through a link, shown on the sign-in page; null if there was none. */
let linkError: unknown = null;

export const lastLinkError = (): unknown => linkError;

/** @throws SluiceError with a user-facing message. */
export async function signIn(apiKey: string, sessionName?: string): Promise<void> {
  await sluice.createSession(apiKey, { sessionName });
  signedIn = Promise.resolve(true);
  linkError = null;
}

export async function signOut(): Promise<void> {
  await sluice.deleteSession();
  endSession();
}

/** Marks the session as ended, after a rejected request or a sign-out. */
export function endSession(): void {
  signedIn = Promise.resolve(false);
}

/**
 * Returns whether the user is signed in. If the check fails, returns true, because the pages show
 * better errors.
 */
export function isSignedIn(): Promise<boolean> {
  signedIn ??= sluice.checkSession().catch(() => true);
  return signedIn;
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
  signedIn = signIn(apiKey).then(
    () => true,
    (error: unknown) => {
      linkError = error;
      return false;
    },
  );
  return true;
}
