/** Classifies the errors that nodes return. Each node implementation words them differently. */
import { cutText, parseRetryAfter } from '@sluice/kit/contract';
import { parseJson } from '../../base/json.ts';
import { REFUSED_RANGE, parseRangeRefusal } from './rangeRefusal.ts';
import { SourceError, type SourceErrorKind } from '../source.ts';

/** Wait after a rate limit if the node sends no valid `Retry-After`. */
const DEFAULT_RETRY_AFTER_MS = 1_000;
/** Maximum wait after a rate limit. */
const MAX_RETRY_AFTER_MS = 300_000;
const MESSAGE_LENGTH = 300;

/**
 * Kinds of errors by code, text and method; the first matching entry wins. Codes alone are
 * ambiguous: -32005 is "too many requests" on one node and "too many results" on another, and
 * -32000 is used for any error.
 */
const KINDS: readonly {
  kind: SourceErrorKind;
  codes?: readonly unknown[];
  says?: RegExp;
  /** The only method that the entry applies to. Default: all methods. */
  method?: string;
}[] = [
  // The message of a reverted call comes from the called contract, so it may contain any text.
  { kind: 'refused', codes: [3], says: /revert/i },
  {
    kind: 'too-large',
    says: /response size|size exceeded|too large|larger than|more than [\d,.]+k? (results|logs)|block range|range (is )?too|max(imum)? (results|logs)|too many (results|logs)/i,
  },
  { kind: 'too-large', method: 'eth_getLogs', says: REFUSED_RANGE },
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

/** HTTP details of a response; WebSocket responses have none. */
export interface HttpFacts {
  status: number;
  retryAfter: string | undefined;
}

/**
 * Returns the `result` of a JSON-RPC response.
 *
 * @param name name of the node, for error messages
 * @param value the parsed response; undefined if it is not JSON
 * @throws SourceError for any other response
 */
export function readResult(
  name: string,
  method: string,
  value: unknown,
  http?: HttpFacts,
): unknown {
  const answer =
    typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  if (http?.status === 429) {
    throw rateLimited(`${name}: ${method} returned HTTP 429: too many requests`, http.retryAfter);
  }
  if (http?.status === 413) {
    throw new SourceError('too-large', `${name}: ${method} returned HTTP 413: too large`);
  }
  const error = answer?.['error'];
  if (typeof error === 'object' && error !== null) {
    throw toSourceError(name, method, error, http?.retryAfter);
  }
  if (http !== undefined && (http.status < 200 || http.status > 299)) {
    throw new SourceError('unreachable', `${name}: ${method} returned HTTP ${http.status}`);
  }
  if (answer === undefined || !('result' in answer)) {
    throw new SourceError(
      'unreachable',
      `${name}: ${method} returned no JSON-RPC result. Is this the URL of a node?`,
    );
  }
  return answer['result'];
}

function toSourceError(
  name: string,
  method: string,
  error: object,
  retryAfter: string | undefined,
): SourceError {
  const { code, message, data } = error as { code?: unknown; message?: unknown; data?: unknown };
  const text = cutText(String(message), MESSAGE_LENGTH);
  const full = `${name}: ${method} failed: ${text} (${String(code)})`;
  const kind =
    KINDS.find(
      (each) =>
        (each.method === undefined || each.method === method) &&
        (each.codes?.includes(code) === true || each.says?.test(text) === true),
    )?.kind ?? 'refused';
  if (kind === 'rate-limited') return rateLimited(full, retryAfter);
  return new SourceError(kind, full, {
    ...(typeof code === 'number' && { rpcCode: code }),
    data,
    ...(kind === 'too-large' && { range: parseRangeRefusal(String(message).slice(0, 1_000)) }),
  });
}

function rateLimited(message: string, retryAfter: string | undefined): SourceError {
  return new SourceError('rate-limited', message, { retryAfterMs: toRetryAfterMs(retryAfter) });
}

/** Converts a `Retry-After` header to milliseconds, with a default and a maximum. */
export const toRetryAfterMs = (header: string | undefined): number =>
  Math.min(parseRetryAfter(header, Date.now()) ?? DEFAULT_RETRY_AFTER_MS, MAX_RETRY_AFTER_MS);

/** Parses the text of a response; undefined if it is not JSON. */
export function parseAnswer(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
