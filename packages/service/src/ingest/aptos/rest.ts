/** The REST API (v1) of one Aptos fullnode. */
import { cutText } from '@sluice/kit/contract';
import { Pool } from 'undici';
import { parseJson } from '../../base/json.ts';
import { describeError } from '../../base/log.ts';
import { toRetryAfterMs } from '../nodes/rpcError.ts';
import { SourceError } from '../source.ts';

export interface AptosRest {
  /**
   * The answer to GET, parsed, with the bytes it took; undefined for what is not there (404). Throws a {@link SourceError} for everything else.
   *
   * @param path below the API's root, e.g. `blocks/by_height/1`; empty for the root itself
   */
  get(path: string): Promise<{ value: unknown; sizeBytes: number } | undefined>;
  close(): Promise<void>;
}

const TIMEOUT_MS = 15_000;
/** As many as a provider's pace may allow at once. */
const CONNECTIONS = 32;
/** A page of a hundred transactions stays far below. */
const MAX_ANSWER_BYTES = 256 * 1024 * 1024;
const MESSAGE_LENGTH = 300;

/**
 * @param url of the API's root, which ends in `/v1` as a rule; a password without a user name is sent
 * as a bearer token
 * @param name of the node in messages; not its URL, where providers put keys
 */
export function createAptosRest(url: string, name: string): AptosRest {
  const root = new URL(url);
  const pool = new Pool(root.origin, {
    connections: CONNECTIONS,
    maxResponseSize: MAX_ANSWER_BYTES,
  });
  const headers: Record<string, string> = { accept: 'application/json' };
  const password = decodeURIComponent(root.password);
  if (root.username !== '') {
    const login = `${decodeURIComponent(root.username)}:${password}`;
    headers['authorization'] = `Basic ${Buffer.from(login).toString('base64')}`;
  } else if (password !== '') headers['authorization'] = `Bearer ${password}`;
  const base = /^(?:\/*[^/])*/.exec(root.pathname)![0];

  return {
    async get(path) {
      let status: number;
      let retryAfter: string | undefined;
      let text: string;
      try {
        const response = await pool.request({
          method: 'GET',
          path: `${base}/${path}${root.search && (path.includes('?') ? `&${root.search.slice(1)}` : root.search)}`,
          headers,
          signal: AbortSignal.timeout(TIMEOUT_MS),
        });
        status = response.statusCode;
        retryAfter = [response.headers['retry-after']].flat()[0];
        text = await response.body.text();
      } catch (error) {
        throw new SourceError('unreachable', `${name}: ${describeError(error)}`, { cause: error });
      }
      const what = `${name}: /${path.replace(/\?.*/, '')}`;
      const value = parse(text);
      if (status === 200 && value !== undefined) return { value, sizeBytes: text.length };
      const { error_code: code, message } = (value ?? {}) as Record<string, unknown>;
      const said = typeof message === 'string' ? cutText(message, MESSAGE_LENGTH) : '';
      // Of a version it does not have yet a node that lags says nothing of what is there.
      if (status === 404 && code === 'version_not_found') {
        throw new SourceError('missing', `${what}: ${said}`);
      }
      // Gateways say 404 too, of paths they do not know.
      if (status === 404 && typeof code === 'string') return undefined;
      if (status === 410) throw new SourceError('pruned', `${what} answered HTTP 410: ${said}`);
      if (status === 429 || status === 503) {
        throw new SourceError(
          'rate-limited',
          `${what} answered HTTP ${status}: it limits our requests`,
          { retryAfterMs: toRetryAfterMs(retryAfter) },
        );
      }
      // A node that lags says so of versions it does not have yet.
      if (status === 400 && /higher than the current ledger version/i.test(said)) {
        throw new SourceError('missing', `${what}: ${said}`);
      }
      if (status >= 400 && status < 500 && typeof code === 'string') {
        throw new SourceError('refused', `${what} failed: ${said} (${code})`);
      }
      throw new SourceError(
        'unreachable',
        status === 200 || status === 404
          ? `${what} answered no JSON of an Aptos fullnode; is this the URL of its REST API, which ends in /v1?`
          : `${what} answered HTTP ${status}${said && `: ${said}`}`,
      );
    },
    close: () => pool.destroy(),
  };
}

function parse(text: string): unknown {
  try {
    return parseJson(text) ?? undefined;
  } catch {
    return undefined;
  }
}
