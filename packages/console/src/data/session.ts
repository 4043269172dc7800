/**
 * The session. The API key is exchanged for an HttpOnly cookie and then discarded, so that no
 * script can read it later.
 */
import { sluice } from './queries/service.ts';
import { parseKeyFragment } from './search.ts';

/** Requested once per page load, and updated by each sign-in and sign-out. */
let signedIn: Promise<boolean> | null = null;

/** Reason for rejecting the key of the link, shown on the sign-in page. */
let linkError: unknown = null;

export const lastLinkError = (): unknown => linkError;

/** @throws the error of the service, with a user-facing message. */
export async function signIn(apiKey: string): Promise<void> {
  await sluice.createSession(apiKey);
  signedIn = Promise.resolve(true);
  linkError = null;
}

export async function signOut(): Promise<void> {
  await sluice.deleteSession();
  endSession();
}

/** Called when a request was rejected or the user signed out. */
export function endSession(): void {
  signedIn = Promise.resolve(false);
}

/** An unreachable service counts as signed in, because the pages show better errors. */
export function isSignedIn(): Promise<boolean> {
  signedIn ??= sluice.checkSession().catch(() => true);
  return signedIn;
}

/**
 * Signs in with the key of a `…#key=…` link, and removes the key from the address bar and the
 * history before anything else runs.
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
