/**
 * Who is signed in. The key is traded for an HttpOnly cookie and then forgotten: it is never kept
 * where a script could read it again.
 */
import { sluice } from './queries/service.ts';
import { parseKeyFragment } from './search.ts';

/** Asked of the service once per page load, set by each sign-in and sign-out. */
let signedIn: Promise<boolean> | null = null;

/** Why the key of the link was refused, for the sign-in page. */
let linkError: unknown = null;

export const lastLinkError = (): unknown => linkError;

/** @throws whatever the service answered; its message is for people. */
export async function signIn(apiKey: string): Promise<void> {
  await sluice.createSession(apiKey);
  signedIn = Promise.resolve(true);
  linkError = null;
}

export async function signOut(): Promise<void> {
  await sluice.deleteSession();
  endSession();
}

/** A call was refused, or the user left. */
export function endSession(): void {
  signedIn = Promise.resolve(false);
}

/** An unreachable service counts as signed in: the pages say better what is wrong. */
export function isSignedIn(): Promise<boolean> {
  signedIn ??= sluice.checkSession().catch(() => true);
  return signedIn;
}

/**
 * Signs in with the key of a `…#key=…` link, and takes the key out of the address bar and the
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
