/** Reads the login in a webhook URL. */

export interface Login {
  user: string;
  /** Empty if the URL has only a user. */
  password: string;
}

/** Returns the decoded login; undefined if the URL has none. */
export function readLogin({ username, password }: URL): Login | undefined {
  if (username === '') return undefined;
  return { user: decode(username), password: decode(password) };
}

/** Decodes percent escapes. If any of them is invalid, returns the text unchanged. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
