/** Request bodies: read up to the limit of their route, and parsed as JSON of a sensible depth. */
import type { Context } from 'hono';
import type { Call } from '@sluice/kit/calls';
import { cutText } from '@sluice/kit/contract';
import { parseJson } from '../base/json.ts';
import { HttpError } from './answers.ts';

const KIB = 1024;
const MIB = KIB * KIB;
/** Of every route that says nothing else. */
export const BODY_LIMIT_BYTES = MIB;
/** Of routes that take no key, and of those that read no body. */
const SMALL_BODY_LIMIT_BYTES = 4 * KIB;
const BODY = 'body';
/** Whatever checks, stores or sends a body recurses as deep as it is; no honest one is this deep. */
const MAX_DEPTH = 64;
/** Bytes copied between two turns of the event loop. */
const JOIN_STEP_BYTES = 4 * MIB;
/** Of what the parser says; it quotes the body. */
const ECHO_LIMIT = 200;

/** Bytes that the body of this route may have. */
export function bodyLimitOf({ method, scope, maxBodyBytes }: Call): number {
  if (scope === 'open' || method === 'GET') return SMALL_BODY_LIMIT_BYTES;
  return maxBodyBytes ?? BODY_LIMIT_BYTES;
}

const inWords = (bytes: number): string =>
  bytes < MIB ? `${bytes / KIB} KiB` : `${bytes / MIB} MiB`;

/**
 * Reads the body ahead of the handler, so that a client that writes it all before it listens hears
 * the answer. Not Hono's own limit: that copies a request whose length was not given in advance, and
 * the request object of the Node adapter cannot be copied.
 */
export async function takeBody(context: Context, maxBytes: number): Promise<void> {
  const tooLarge = (): HttpError =>
    new HttpError(413, `The request body is over ${inWords(maxBytes)}, the limit of this route`);
  if (Number(context.req.header('content-length') ?? 0) > maxBytes) throw tooLarge();
  const reader = context.req.raw.body?.getReader();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const read = await reader?.read().catch(() => {
      throw new HttpError(400, 'The request body broke off');
    });
    if (read === undefined || read.done) break;
    bytes += read.value.length;
    if (bytes > maxBytes) throw tooLarge();
    chunks.push(read.value);
  }
  context.set(BODY, await join(chunks, bytes));
}

/** `Buffer.concat`, with turns for others: the first writing of so much memory takes long. */
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

/** The body as JSON; an empty one is `{}`, as the official client sends it. */
export function readJson(context: Context): unknown {
  const bytes = readBytes(context);
  // Before it is parsed: the parser would build every level first.
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

/** Whether lists and objects stand in each other more often than that. One look at each byte. */
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
