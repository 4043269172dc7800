/** Reads request bodies up to the limit of their route and parses them as JSON of limited depth. */
import type { Context } from 'hono';
import type { Call } from '@sluice/kit/calls';
import { cutText } from '@sluice/kit/contract';
import { parseJson } from '../base/json.ts';
import { HttpError } from './httpErrors.ts';

const KIB = 1024;
const MIB = KIB * KIB;
/** Maximum body size on routes that do not set `maxBodyBytes`. */
export const BODY_LIMIT_BYTES = MIB;
/** Maximum body size on `GET` routes and on routes that require no key. */
const SMALL_BODY_LIMIT_BYTES = 4 * KIB;
const BODY = 'body';
/**
 * Maximum nesting depth. Bodies are validated, stored and sent recursively, so a deeper one could
 * overflow the stack.
 */
const MAX_DEPTH = 64;
/** Number of bytes to copy before yielding to the event loop. */
const JOIN_STEP_BYTES = 4 * MIB;
/** Maximum size and time for reading and discarding the rest of a body that is too large. */
const EXCESS_BYTES = 128 * MIB;
const EXCESS_MS = 30_000;
/** Maximum length of a parser error in a response, because the parser quotes the body. */
const ECHO_LIMIT = 200;

/** Returns the maximum size of a body on this route, in bytes. */
export function bodyLimitOf({ method, scope, maxBodyBytes }: Call): number {
  if (scope === 'open' || method === 'GET') return SMALL_BODY_LIMIT_BYTES;
  return maxBodyBytes ?? BODY_LIMIT_BYTES;
}

const inWords = (bytes: number): string =>
  bytes < MIB ? `${bytes / KIB} KiB` : `${bytes / MIB} MiB`;

/**
 * Reads the body before the handler runs, because some clients read the response only after they
 * have sent the entire request. Hono's own limit does not work here, because it copies requests,
 * which the Node adapter does not support.
 *
 * @throws HttpError 413 for a body above `maxBytes`, 400 for an incomplete body
 */
export async function takeBody(context: Context, maxBytes: number): Promise<void> {
  const reader = context.req.raw.body?.getReader();
  const reject = async (): Promise<never> => {
    await discard(reader);
    const limit = inWords(maxBytes);
    throw new HttpError(413, `The request body exceeds ${limit}, the limit of this route`);
  };
  if (Number(context.req.header('content-length') ?? 0) > maxBytes) await reject();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const read = await reader?.read().catch(() => {
      throw new HttpError(400, 'The request body is incomplete');
    });
    if (read === undefined || read.done) break;
    bytes += read.value.length;
    if (bytes > maxBytes) await reject();
    chunks.push(read.value);
  }
  context.set(BODY, await join(chunks, bytes));
}

/**
 * Reads the rest of a body that is too large. The Node adapter closes the connection half a second
 * after an early response, so a client that is still sending would get a reset instead of the 413.
 */
async function discard(reader: ReadableStreamDefaultReader<Uint8Array> | undefined): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, EXCESS_MS, undefined);
  });
  for (let bytes = 0; bytes <= EXCESS_BYTES;) {
    const read = await Promise.race([timeout, reader?.read().catch(() => undefined)]);
    if (read === undefined || read.done) break;
    bytes += read.value.length;
  }
  clearTimeout(timer);
}

/**
 * Works like `Buffer.concat` but yields to the event loop, because the first write to a large
 * buffer is slow.
 */
async function join(chunks: readonly Uint8Array[], bytes: number): Promise<Buffer> {
  const joined = Buffer.allocUnsafe(bytes);
  let at = 0;
  let nextTurn = JOIN_STEP_BYTES;
  for (const chunk of chunks) {
    joined.set(chunk, at);
    at += chunk.length;
    if (at < nextTurn) continue;
    nextTurn = at + JOIN_STEP_BYTES;
    await new Promise(setImmediate);
  }
  return joined;
}

export const readBytes = (context: Context): Buffer => context.get(BODY) as Buffer;

/**
 * Returns the parsed body; `{}` for an empty body, because the official client sends no body
 * instead of `{}`.
 */
export function readJson(context: Context): unknown {
  const bytes = readBytes(context);
  // Checks the depth before parsing, because the parser would build every level first.
  if (isDeeper(bytes, MAX_DEPTH)) {
    throw new HttpError(400, `The request body is nested deeper than ${MAX_DEPTH} levels`);
  }
  const text = new TextDecoder().decode(bytes);
  if (text.trim() === '') return {};
  try {
    return parseJson(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new HttpError(400, `The request body is not valid JSON: ${cutText(why, ECHO_LIMIT)}`);
  }
}

const [QUOTE, BACKSLASH, ...BRACKETS] = Buffer.from('"\\[{]}');
const [LIST, OBJECT, LIST_END, OBJECT_END] = BRACKETS;

/** Returns whether lists and objects in the JSON are nested deeper than `levels`. */
export function isDeeper(json: Uint8Array, levels: number): boolean {
  let depth = 0;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (byte === QUOTE) {
      while (++at < json.length && json[at] !== QUOTE) if (json[at] === BACKSLASH) at++;
    } else if (byte === LIST || byte === OBJECT) {
      if (++depth > levels) return true;
    } else if (byte === LIST_END || byte === OBJECT_END) depth--;
  }
  return false;
}
