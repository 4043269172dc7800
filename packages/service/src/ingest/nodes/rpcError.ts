/** Classifies the errors that nodes return. Each node implementation words them differently. */
import { cutText, parseRetryAfter } from '@sluice/kit/contract';
import { type CleanText, cleanNodeText } from '../../base/foreignText.ts';
import { parseJson } from '../../base/json.ts';
import { REFUSED_RANGE, parseRangeRefusal } from './rangeRefusal.ts';
import { SourceError, type SourceErrorKind } from '../source.ts';

/** Wait after a rate limit if the node sends no valid `Retry-After`. */
const DEFAULT_RETRY_AFTER_MS = 1_000;
/** Maximum wait after a rate limit. */
const MAX_RETRY_AFTER_MS = 300_000;
/** Maximum length of an error's text in messages, and in the classification. */
const MESSAGE_LENGTH = 300;
const TEXT_LENGTH = 1_000;
/** Maximum number of values of an error in which text is looked for. */
const VALUES_READ = 50;

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
  // The node lags. These messages may also mention a block range.
  {
    kind: 'missing',
    says: /\b(beyond|ahead of|past|(greater|higher|larger|later|newer) than) (the |its )?(current |chain )?(head|tip|latest|newest|current block)|\bblock(hash)?\b.{0,20} cannot be found/i,
  },
  {
    kind: 'pruned',
    codes: [4444],
    says: /pruned history|history .{0,40}(pruned|expired|unavailable|not available)|archiv(e|al) (requests?|nodes?|data|access|mode)|data before \S{1,40} is not available|receipts? not available for/i,
  },
  {
    kind: 'too-large',
    codes: [-32008],
    says: /response size|size exceeded|too (large|big)|larger than|more than [\d,.]{1,16}k? (results|logs)|block range|range (is )?too|max(imum)? (results|logs)|too many (results|logs)/i,
  },
  { kind: 'too-large', method: 'eth_getLogs', says: REFUSED_RANGE },
  {
    kind: 'rate-limited',
    codes: [429, -32007],
    says: /rate.?limit|too many (requests|connections)|requests? limit|(daily|monthly|usage|tier) limit|quota|capacity|throughput|compute units|throttl|credits|slow down|too much load/i,
  },
  // "limit exceeded" without a rate: the limit is that of a range.
  { kind: 'too-large', method: 'eth_getLogs', codes: [-32005] },
  {
    kind: 'missing',
    codes: [-32001],
    says: /\b(header|block|transaction|state)s?( \S{1,80}){0,3} (not found|(is )?not available|unavailable)|unknown block|missing trie node|historical state|pruned|not (yet )?(synced|indexed)|distance to target block/i,
  },
  {
    kind: 'unsupported',
    codes: [-32601, -32004],
    says: /not (found|supported|available|exist|allowed|whitelisted|implemented)|disabled|unsupported|unknown method/i,
  },
  { kind: 'rate-limited', codes: [-32005, -32016, -32029] },
];

/** Kinds that the text of an HTTP error without a JSON-RPC error may have. Others are guesses. */
const KINDS_OF_PAGES: ReadonlySet<SourceErrorKind> = new Set(['too-large', 'rate-limited']);
/** Kinds of HTTP errors whose text has no such kind. Default: `unreachable`. */
const KINDS_OF_STATUS: Partial<Record<number, SourceErrorKind>> = {
  400: 'refused',
  413: 'too-large',
  422: 'refused',
};

const INTERNAL_ERROR = -32603;
const PASSING = /time(d )?-?out|deadline exceeded|context cancel|temporar|try again|retry later/i;

/**
 * Returns whether the same request may succeed soon: the node is unreachable or lags, or its error
 * has a passing cause. Such an error alone does not show that the request is wrong.
 */
export const isTransient = (error: SourceError): boolean =>
  error.kind === 'unreachable' ||
  error.kind === 'missing' ||
  (error.kind === 'refused' &&
    error.rpcCode !== 3 &&
    (error.rpcCode === INTERNAL_ERROR || PASSING.test(error.message)));

/**
 * A node in messages. Its text is cleaned where errors are created from it, and nowhere else, so a
 * message of a {@link SourceError} can be logged, stored and shown.
 */
export interface NamedNode {
  /** The host of the node, numbered if several nodes share it. */
  name: string;
  /** Cleans text of the node, and masks the secrets of its URL. */
  clean: CleanText;
}

export const nameNode = (name: string, url: string): NamedNode => ({
  name,
  clean: cleanNodeText(url),
});

/** HTTP details of a response; WebSocket responses have none. */
export interface HttpFacts {
  status: number;
  retryAfter: string | undefined;
}

/**
 * Returns the `result` of a JSON-RPC response.
 *
 * @param value the parsed response, or its text if it is not JSON
 * @throws SourceError for any other response
 */
export function readResult(
  node: NamedNode,
  method: string,
  value: unknown,
  http?: HttpFacts,
): unknown {
  const answer =
    typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  if (http?.status === 429) {
    throw rateLimited(
      `${node.name}: ${method} returned HTTP 429: too many requests`,
      http.retryAfter,
    );
  }
  const error = answer?.['error'];
  if (error !== undefined && error !== null) throw toSourceError(node, method, error, http);
  if (http !== undefined && (http.status < 200 || http.status > 299)) {
    throw toHttpError(node, method, value, http);
  }
  if (answer === undefined || !('result' in answer)) {
    throw new SourceError(
      'unreachable',
      `${node.name}: ${method} returned no JSON-RPC result. Is this the URL of a node?`,
    );
  }
  return answer['result'];
}

function toSourceError(
  { name, clean }: NamedNode,
  method: string,
  error: unknown,
  http: HttpFacts | undefined,
): SourceError {
  const { code, data } = error as { code?: unknown; data?: unknown };
  const text = textOf(error);
  const label = typeof code === 'number' || typeof code === 'string' ? ` (${code})` : '';
  const full = `${name}: ${method} failed: ${clean(cutText(text, MESSAGE_LENGTH) + label)}`;
  const kind = findKind(method, text, code) ?? (http?.status === 413 ? 'too-large' : 'refused');
  if (kind === 'rate-limited') return rateLimited(full, http?.retryAfter);
  return new SourceError(kind, full, {
    ...(typeof code === 'number' && { rpcCode: code }),
    data,
    ...(kind === 'too-large' && { range: parseRangeRefusal(text) }),
  });
}

/** Converts an HTTP error without a JSON-RPC error: a page of a proxy, or the text of a gateway. */
function toHttpError(
  { name, clean }: NamedNode,
  method: string,
  value: unknown,
  http: HttpFacts,
): SourceError {
  const text = textOf(value)
    .replaceAll(/<[^<>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
  const shown = text === '' ? '' : `: ${clean(cutText(text, MESSAGE_LENGTH))}`;
  const full = `${name}: ${method} returned HTTP ${http.status}${shown}`;
  const said = findKind(method, text, undefined);
  const kind =
    said !== undefined && KINDS_OF_PAGES.has(said)
      ? said
      : (KINDS_OF_STATUS[http.status] ?? 'unreachable');
  if (kind === 'rate-limited') return rateLimited(full, http.retryAfter);
  return new SourceError(
    kind,
    full,
    kind === 'too-large' ? { range: parseRangeRefusal(text) } : {},
  );
}

const findKind = (method: string, text: string, code: unknown): SourceErrorKind | undefined =>
  KINDS.find(
    (each) =>
      (each.method === undefined || each.method === method) &&
      (each.codes?.includes(code) === true || each.says?.test(text) === true),
  )?.kind;

/**
 * Returns the messages of an error, outermost first, because nodes and gateways nest the cause in
 * `data`, `error`, `cause` or lists. Omits bytes in hex, which are the data of a reverted call.
 */
function textOf(error: unknown): string {
  const texts: string[] = [];
  const values: unknown[] = [error];
  for (let n = 0; n < Math.min(values.length, VALUES_READ); n++) {
    const value = values[n];
    if (typeof value === 'string') {
      if (!value.startsWith('0x')) texts.push(cutText(value, TEXT_LENGTH));
    } else if (typeof value === 'object' && value !== null) {
      const { message, ...others } = value as { message?: unknown };
      values.push(message, ...Object.values(others).slice(0, VALUES_READ));
    }
  }
  return cutText(texts.join('; '), TEXT_LENGTH);
}

function rateLimited(message: string, retryAfter: string | undefined): SourceError {
  return new SourceError('rate-limited', message, { retryAfterMs: toRetryAfterMs(retryAfter) });
}

/** Converts a `Retry-After` header to milliseconds, with a default and a maximum. */
export const toRetryAfterMs = (header: string | undefined): number =>
  Math.min(parseRetryAfter(header, Date.now()) ?? DEFAULT_RETRY_AFTER_MS, MAX_RETRY_AFTER_MS);

/** Parses the text of a response, and returns the text if it is not JSON. */
export function parseAnswer(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}
