/** One request as it is, whatever is wrong with it, and its answer. */
import {
  Agent,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  request as httpRequest,
} from 'node:http';
import { pipeline } from 'node:stream';
import { text as readText } from 'node:stream/consumers';
import { type Gunzip, type Inflate, createGunzip, createInflate } from 'node:zlib';

/** By what an answer is coded in; the header of a request may ask for any. */
const UNPACKERS: Readonly<Record<string, () => Gunzip | Inflate>> = {
  gzip: createGunzip,
  deflate: createInflate,
};

export interface RawAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  /** Unpacked. Empty for an answer that goes on: that one is left. */
  text: string;
}

export interface RawSending {
  /** Sent as JSON, or as it is where it is text or bytes. */
  body?: unknown;
  /** Beside those of the body, or instead; undefined leaves one of these out. */
  headers?: OutgoingHttpHeaders;
  /** Without a length in advance. */
  chunked?: boolean;
  /** Whose connections it goes over. Default: one of its own. */
  over?: Agent;
}

/**
 * Sends it. Not by `fetch`: that sends no foreign `Host`, no body with GET,
 * and forgets an answer that comes before the body is through.
 */
export async function sendRaw(
  url: string,
  method: string,
  path: string,
  { body, headers = {}, chunked = false, over }: RawSending = {},
): Promise<RawAnswer> {
  const bytes =
    body === undefined || typeof body === 'string' || body instanceof Uint8Array
      ? Buffer.from(body ?? '')
      : Buffer.from(JSON.stringify(body));
  const { hostname, port } = new URL(url);
  const all: OutgoingHttpHeaders = {
    ...(bytes.length > 0 && { 'content-type': 'application/json' }),
    ...(bytes.length > 0 &&
      (chunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': bytes.length })),
    ...headers,
  };
  // One that keeps the connection, as clients do: then the service reads on after its answer.
  const agent = over ?? new Agent({ keepAlive: true });
  const request = httpRequest({
    agent,
    hostname,
    port,
    method,
    path,
    headers: Object.fromEntries(Object.entries(all).filter(([, text]) => text !== undefined)),
  });
  return new Promise<RawAnswer>((resolve, reject) => {
    let answered = false;
    request.on('error', (error) => {
      // An answer that came while we still wrote is an answer.
      if (!answered) reject(error);
    });
    request.on('response', (response) => {
      answered = true;
      const { statusCode: status = 0, headers } = response;
      if (headers['content-type']?.startsWith('text/event-stream')) {
        request.destroy();
        resolve({ status, headers, text: '' });
        return;
      }
      const unpacker = UNPACKERS[headers['content-encoding'] ?? '']?.();
      const plain = unpacker === undefined ? response : pipeline(response, unpacker, () => {});
      readText(plain).then((text) => resolve({ status, headers, text }), reject);
    });
    request.end(bytes.length > 0 ? bytes : undefined);
  }).finally(() => agent === over || agent.destroy());
}
