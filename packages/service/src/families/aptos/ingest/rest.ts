/** The REST API (v1) of one Aptos fullnode. */
import { cutText } from '@sluice/kit/contract';
import { Pool, type buildConnector } from 'undici';
import { parseJson } from '../../../base/json.ts';
import { describeError } from '../../../base/log.ts';
import { nameNode, toRetryAfterMs } from '../../../ingest/nodes/rpcError.ts';
import { SourceError } from '../../../ingest/source.ts';

export interface AptosRest {
  /**
   * Makes a GET request and returns the parsed response with its size; undefined if the node
   * reports that the resource does not exist (404). Throws a {@link SourceError} on any other
   * failure, including a 404 for a version, which may exist later. The `data` of a `pruned` error is
   * the URL of an archive that the node names, if any.
   *
   * @param path path below the API's root, such as `blocks/by_height/1`; empty for the root
   */
  get(path: string): Promise<{ value: unknown; sizeBytes: number } | undefined>;
  close(): Promise<void>;
}

const TIMEOUT_MS = 15_000;
/** Maximum number of concurrent requests to a node. */
const CONNECTIONS = 32;
/** Maximum size of a response; a page of 100 transactions is far smaller. */
const MAX_ANSWER_BYTES = 256 * 1024 * 1024;
const MESSAGE_LENGTH = 300;

/**
 * @param url URL of the API's root, usually ending in `/v1`; a user name and password are sent as
 * basic authentication, a password alone as a bearer token
 * @param name name of the node in messages, not its URL, which may contain an API key
 * @param connect opens the connections, e.g. with address checks; default: without checks
 */
export function createAptosRest(
  url: string,
  name: string,
  connect?: buildConnector.connector,
): AptosRest {
  const root = new URL(url);
  const { clean } = nameNode(name, url);
  const pool = new Pool(root.origin, {
    connections: CONNECTIONS,
    maxResponseSize: MAX_ANSWER_BYTES,
    ...(connect && { connect }),
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
        throw new SourceError('unreachable', `${name}: ${clean(describeError(error))}`);
      }
      const what = `${name}: /${path.replace(/\?.*/, '')}`;
      const value = parse(text);
      if (status === 200 && value !== undefined)
        return { value, sizeBytes: Buffer.byteLength(text) };
      const {
        error_code: code,
        message,
        archival_endpoint: archive,
      } = (value ?? {}) as Record<string, unknown>;
      const said = typeof message === 'string' ? clean(cutText(message, MESSAGE_LENGTH)) : '';
      // A lagging node does not know whether a later version exists.
      if (status === 404 && code === 'version_not_found') {
        throw new SourceError('missing', `${what}: ${said}`);
      }
      // Gateways also return 404, but without an error code.
      if (status === 404 && typeof code === 'string') return undefined;
      // Older nodes report pruned pages of transactions as internal errors.
      if (status === 410 || (status === 500 && /\bpruned\b/i.test(said))) {
        const archiveUrl = toArchiveUrl(archive, root);
        throw new SourceError('pruned', `${what} returned HTTP ${status}: ${said}`, {
          data: archiveUrl && clean(archiveUrl),
        });
      }
      if (status === 429 || status === 503) {
        throw new SourceError('rate-limited', `${what} returned HTTP ${status}: rate limited`, {
          retryAfterMs: toRetryAfterMs(retryAfter),
        });
      }
      // Lagging nodes return this error for versions that they do not have yet.
      if (status === 400 && /higher than the current ledger version/i.test(said)) {
        throw new SourceError('missing', `${what}: ${said}`);
      }
      if (status >= 400 && status < 500 && typeof code === 'string') {
        throw new SourceError('refused', `${what} failed: ${said} (${clean(code)})`);
      }
      throw new SourceError(
        'unreachable',
        status === 200 || status === 404
          ? `${what} did not return the JSON of an Aptos fullnode. Is this the URL of its REST API, ending in /v1?`
          : `${what} returned HTTP ${status}${said && `: ${said}`}`,
      );
    },
    close: () => pool.destroy(),
  };
}

/**
 * Returns the URL of the archive that a node names, without login and query; undefined if it is not
 * a URL, or less secure than the node's own.
 */
export function toArchiveUrl(named: unknown, node: URL): string | undefined {
  if (typeof named !== 'string' || !URL.canParse(named)) return undefined;
  const { protocol, host, pathname } = new URL(named);
  if (protocol !== 'https:' && (protocol !== 'http:' || node.protocol === 'https:')) {
    return undefined;
  }
  return `${protocol}//${host}${pathname}`;
}

function parse(text: string): unknown {
  try {
    return parseJson(text) ?? undefined;
  } catch {
    return undefined;
  }
}
