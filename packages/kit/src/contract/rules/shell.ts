/** Shell commands that the command line and the console show, so that users can run them. */

/** Quotes an argument for a POSIX shell, if it needs quotes. */
export const quoteShell = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

export interface CurlRequest {
  readonly method: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sends the API key that the environment variable `SLUICE_API_KEY` contains. Default: false. */
  readonly sendsApiKey?: boolean;
  /**
   * The body; undefined for none. A body of more than 100,000 characters, or one that is not text,
   * is read from `body.json`.
   */
  readonly body?: string | object | undefined;
}

/** Maximum length of a body on the command line. */
const MAX_ARGUMENT_LENGTH = 100_000;

/** Returns the request as a curl command. */
export function toCurl({ method, url, headers = {}, sendsApiKey, body }: CurlRequest): string {
  const isLong = typeof body !== 'string' || body.length > MAX_ARGUMENT_LENGTH;
  return [
    `curl -X ${method} ${quoteShell(url)}`,
    ...(sendsApiKey ? [`  -H "x-api-key: $SLUICE_API_KEY"`] : []),
    ...Object.entries(headers).map(([name, value]) => `  -H ${quoteShell(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`  --data-binary ${isLong ? '@body.json' : quoteShell(body)}`]),
  ].join(' \\\n');
}

/**
 * Returns a command that only tests the connection to a receiver. It sends no body, and omits the
 * credentials and query of the URL.
 */
export function toConnectingCurl(url: string): string {
  const { origin, pathname } = new URL(url);
  return `curl -v -X POST ${quoteShell(origin + pathname)}`;
}
