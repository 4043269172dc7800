import { once } from 'node:events';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** What a sink does with one request; a number is a status without a body. */
export type SinkBehaviour = number | SinkAnswer | SinkSilence;

/** An answer, perhaps late, slow or far too large. */
export interface SinkAnswer {
  /** Default 200. */
  status?: number;
  /** Sent as they are, such as `retry-after`, `location`, or one of a megabyte. */
  headers?: OutgoingHttpHeaders;
  body?: string | Uint8Array;
  /** Instead of `body`: that many bytes, streamed as fast as they are read; 2**30 costs no memory. */
  bodyBytes?: number;
  /** Wait that long before the first byte. */
  delayMs?: number;
  /** Send the headers, or the body, one byte at a time, each after that pause. */
  drip?: { part: 'headers' | 'body'; everyMs: number };
}

/**
 * No answer: `hang` keeps the connection open for ever, `close` ends it (FIN), `reset` breaks it (RST).
 */
export interface SinkSilence {
  silence: 'hang' | 'close' | 'reset';
}

/** Does it; resolves when the answer is on its way, or when the sender gave up on it. */
export async function behave(
  behaviour: SinkBehaviour,
  socket: Socket,
  response: ServerResponse,
): Promise<void> {
  if (typeof behaviour === 'number') {
    response.writeHead(behaviour).end();
    return;
  }
  if ('silence' in behaviour) {
    if (behaviour.silence === 'close') socket.destroy();
    if (behaviour.silence === 'reset') socket.resetAndDestroy();
    return;
  }
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  try {
    if (behaviour.delayMs) await delay(behaviour.delayMs, undefined, { signal: gone.signal });
    await answer(behaviour, socket, response, gone.signal);
  } catch (error) {
    if (!gone.signal.aborted) throw error; // the sender leaving is what such tests are about
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
