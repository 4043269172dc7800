/** What a node means when it does not give a result: every node words it differently. */
import { cutText, parseRetryAfter } from '@sluice/kit/contract';
import { parseJson } from '../../base/json.ts';
import { SourceError, type SourceErrorKind } from '../source.ts';

/** Asked to wait without being told how long. */
const DEFAULT_RETRY_AFTER_MS = 1_000;
/** No node is waited for longer than this without asking it again. */
const MAX_RETRY_AFTER_MS = 300_000;
const MESSAGE_LENGTH = 300;

/**
 * Codes alone do not do: -32005 is "too many requests" at one node and "too many results" at the
 * next, -32000 is everything. The first of these that fits decides.
 */
const KINDS: readonly { kind: SourceErrorKind; codes?: readonly unknown[]; says?: RegExp }[] = [
  // A reverted call says whatever its contract wants, "rate limit" too.
  { kind: 'refused', codes: [3], says: /revert/i },
  {
    kind: 'too-large',
    says: /response size|size exceeded|too large|larger than|more than [\d,.]+k? (results|logs)|block range|range (is )?too|max(imum)? (results|logs)|too many (results|logs)/i,
  },
  {
    kind: 'rate-limited',
    codes: [429],
    says: /rate.?limit|too many (requests|connections)|quota|capacity|throughput|compute units|throttl|credits|slow down/i,
  },
  {
    kind: 'missing',
    codes: [-32001],
    says: /\b(header|block|transaction|state)s?( \S+){0,3} (not found|(is )?not available|unavailable)|unknown block|missing trie node|historical state|pruned|not (yet )?(synced|indexed)|distance to target block/i,
  },
  {
    kind: 'unsupported',
    codes: [-32601, -32004],
    says: /not (found|supported|available|exist|allowed|whitelisted|implemented)|disabled|unsupported|unknown method/i,
  },
  { kind: 'rate-limited', codes: [-32005, -32016, -32029] },
];

/** What an HTTP answer adds; a socket has no such thing. */
export interface HttpFacts {
  status: number;
  retryAfter: string | undefined;
}

/**
 * The `result` of a JSON-RPC answer.
 *
 * @param name of the node, for the message
 * @throws SourceError for everything else
 */
export function readResult(name: string, method: string, text: string, http?: HttpFacts): unknown {
  const answer = parseObject(text);
  if (http?.status === 429) {
    throw rateLimited(`${name}: ${method} answered HTTP 429: too many requests`, http.retryAfter);
  }
  if (http?.status === 413) {
    throw new SourceError('too-large', `${name}: ${method} answered HTTP 413: too large`);
  }
  const error = answer?.['error'];
  if (typeof error === 'object' && error !== null) {
    throw toSourceError(`${name}: ${method} failed`, error, http?.retryAfter);
  }
  if (http !== undefined && (http.status < 200 || http.status > 299)) {
    throw new SourceError('unreachable', `${name}: ${method} answered HTTP ${http.status}`);
  }
  if (answer === undefined || !('result' in answer)) {
    throw new SourceError(
      'unreachable',
      `${name}: ${method} answered no JSON-RPC result; is this the URL of a node?`,
    );
  }
  return answer['result'];
}

function toSourceError(what: string, error: object, retryAfter: string | undefined): SourceError {
  const { code, message, data } = error as { code?: unknown; message?: unknown; data?: unknown };
  const text = cutText(String(message), MESSAGE_LENGTH);
  const full = `${what}: ${text} (${String(code)})`;
  const kind =
    KINDS.find(({ codes, says }) => codes?.includes(code) === true || says?.test(text) === true)
      ?.kind ?? 'refused';
  if (kind === 'rate-limited') return rateLimited(full, retryAfter);
  return new SourceError(kind, full, {
    ...(typeof code === 'number' && { rpcCode: code }),
    data,
  });
}

function rateLimited(message: string, retryAfter: string | undefined): SourceError {
  return new SourceError('rate-limited', message, { retryAfterMs: toRetryAfterMs(retryAfter) });
}

/** What a node asks for, within reason. */
export const toRetryAfterMs = (header: string | undefined): number =>
  Math.min(parseRetryAfter(header, Date.now()) ?? DEFAULT_RETRY_AFTER_MS, MAX_RETRY_AFTER_MS);

export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value = parseJson(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
