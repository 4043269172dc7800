/** Returns the error of a response with this status; null for a 2xx. */
export function statusError(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  return status >= 300 && status < 400
    ? `HTTP ${status}: redirects are not followed; set the stream's URL to the final address`
    : `HTTP ${status}`;
}

const GONE = 410;

/** Returns why each attempt fails after this status until the webhook URL changes. */
export const urlProblemOf = (status: number): string | undefined =>
  status === GONE
    ? 'The receiver returned 410 Gone. Correct the webhook URL, then resume the stream'
    : undefined;
