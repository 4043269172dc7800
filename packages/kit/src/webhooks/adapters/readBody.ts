/** Reads the body of a request into memory, up to a limit. */
import { toRaw } from './rawBody.ts';

export type ReadBody =
  | { readonly raw: string | Uint8Array }
  | { readonly failed: 'too-large' | 'broken-off' | 'already-parsed' };

/** Reads a raw body, or a stream of chunks. Any other `body` counts as already parsed. */
export async function readBody(body: unknown, maxBytes: number): Promise<ReadBody> {
  const raw = toRaw(body);
  // For text, the limit applies to characters instead of bytes. That is precise enough, because the
  // text is already in memory.
  if (raw !== undefined) return raw.length > maxBytes ? { failed: 'too-large' } : { raw };
  if (!isAsyncIterable(body)) return { failed: 'already-parsed' };
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const piece of body) {
      const chunk = typeof piece === 'string' ? encoder.encode(piece) : toRaw(piece);
      if (!(chunk instanceof Uint8Array)) return { failed: 'already-parsed' };
      size += chunk.length;
      if (size > maxBytes) return { failed: 'too-large' };
      chunks.push(chunk);
    }
  } catch {
    return { failed: 'broken-off' };
  }
  return { raw: join(chunks, size) };
}

const encoder = new TextEncoder();

const isAsyncIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value;

function join(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const [first] = chunks;
  if (first !== undefined && chunks.length === 1) return first;
  const joined = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    joined.set(chunk, at);
    at += chunk.length;
  }
  return joined;
}

/** Yields the chunks of a web stream. Some runtimes cannot iterate over the stream itself. */
export async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    // Cancels the rest of the stream if the caller stopped early. `cancel` rejects if the stream
    // has already failed.
    await reader.cancel().catch(() => undefined);
  }
}
