/** Request bodies: read up to the limit of their route, and parsed as JSON of a sensible depth. */
import type { Context } from 'hono';
import { HttpError } from './answers.ts';

const MIB = 1024 * 1024;
/** Of every route that says nothing else. */
export const BODY_LIMIT_BYTES = MIB;
const BODY = 'body';
/** Whatever checks, stores or sends a body recurses as deep as it is; no honest one is this deep. */
const MAX_DEPTH = 100;
/** Of what the parser says; it quotes the body. */
const ECHO_LIMIT = 200;

/**
 * Reads the body ahead of the handler, so that a client that writes it all before it listens hears
 * the answer. Not Hono's own limit: that copies a request whose length was not given in advance, and
 * the request object of the Node adapter cannot be copied.
 */
export async function takeBody(context: Context, maxBytes: number): Promise<void> {
  const tooLarge = (): HttpError =>
    new HttpError(413, `The request body is over ${maxBytes / MIB} MiB, the limit of this route`);
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
  context.set(BODY, Buffer.concat(chunks));
}

export const readBytes = (context: Context): Buffer => context.get(BODY) as Buffer;

/** The body as JSON; an empty one is `{}`, as the official client sends it. */
export function readJson(context: Context): unknown {
  const text = new TextDecoder().decode(readBytes(context));
  if (text.trim() === '') return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new HttpError(400, `The request body is not valid JSON: ${why.slice(0, ECHO_LIMIT)}`);
  }
  if (isDeeper(value, MAX_DEPTH)) {
    throw new HttpError(400, `The request body is nested deeper than ${MAX_DEPTH} levels`);
  }
  return value;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((each) => isDeeper(each, levels - 1));
}
