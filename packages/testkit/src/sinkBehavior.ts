import { once } from 'node:events';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** Behavior of a sink for one request. A number is the status of a response without a body. */
export type SinkBehavior = number | SinkAnswer | SinkSilence;

/** A response, which can be delayed, slow or very large. */
export interface SinkAnswer {
  /** Default: 200. */
  status?: number;
  /** Response headers such as `retry-after` or `location`, sent unchanged. */
  headers?: OutgoingHttpHeaders;
  body?: string | Uint8Array;
  /**
   * Number of bytes to send instead of `body`. They are streamed, so even 2**30 bytes need little
   * memory. Ignored with `drip`.
   */
  bodyBytes?: number;
  /** Delay before the response starts, in milliseconds. */
  delayMs?: number;
  /**
   * Part of the response to send byte by byte, with a pause of `everyMs` milliseconds before each
   * byte.
   */
  drip?: { part: 'headers' | 'body'; everyMs: number };
}

/**
 * No response. `hang` keeps the connection open, `close` closes it (FIN), and `reset` resets it
 * (RST).
 */
export interface SinkSilence {
  silence: 'hang' | 'close' | 'reset';
}

/**
 * Applies a behavior. Resolves when the response is written or the sender has disconnected, or at
 * once for a `SinkSilence`.
 */
export async function applyBehavior(
  behavior: SinkBehavior,
  socket: Socket,
  response: ServerResponse,
): Promise<void> {
  if (typeof behavior === 'number') {
    response.writeHead(behavior).end();
    return;
  }
  if ('silence' in behavior) {
    if (behavior.silence === 'close') socket.destroy();
    if (behavior.silence === 'reset') socket.resetAndDestroy();
    return;
  }
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  try {
    if (behavior.delayMs) await delay(behavior.delayMs, undefined, { signal: gone.signal });
    await answer(behavior, socket, response, gone.signal);
  } catch (error) {
    if (!gone.signal.aborted) throw error; // a sender that disconnects is not an error
  }
}

async function answer(
  { status = 200, headers = {}, body = '', bodyBytes, drip }: SinkAnswer,
  socket: Socket,
  response: ServerResponse,
  gone: AbortSignal,
): Promise<void> {
  if (drip?.part === 'headers') {
    const head = [`HTTP/1.1 ${status} Slow`, ...toHeaderLines(headers), '', ''].join('\r\n');
    await dripInto(socket, Buffer.from(head), drip.everyMs, gone);
    socket.end(body);
    return;
  }
  response.writeHead(status, headers);
  if (drip) {
    await dripInto(response, Buffer.from(body), drip.everyMs, gone);
    response.end();
  } else if (bodyBytes !== undefined) {
    await pour(response, bodyBytes, gone);
    response.end();
  } else {
    response.end(body);
  }
}

function toHeaderLines(headers: OutgoingHttpHeaders): string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((item) => `${name}: ${item}`),
  );
}

async function dripInto(
  target: Socket | ServerResponse,
  bytes: Buffer,
  everyMs: number,
  gone: AbortSignal,
): Promise<void> {
  if ('flushHeaders' in target) target.flushHeaders();
  for (const byte of bytes) {
    await delay(everyMs, undefined, { signal: gone });
    target.write(Buffer.of(byte));
  }
}

const oneChunk = Buffer.alloc(64 * 1024, 'x');

async function pour(response: ServerResponse, bytes: number, gone: AbortSignal): Promise<void> {
  for (let left = bytes; left > 0; left -= oneChunk.length) {
    const roomLeft = response.write(left < oneChunk.length ? oneChunk.subarray(0, left) : oneChunk);
    if (!roomLeft) await once(response, 'drain', { signal: gone });
  }
}
