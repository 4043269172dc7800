/** Sends a request unchanged, even if it is malformed, and reads the response. */
import {
  Agent,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  request as httpRequest,
} from 'node:http';
import { pipeline } from 'node:stream';
import { text as readText } from 'node:stream/consumers';
import { type Gunzip, type Inflate, createGunzip, createInflate } from 'node:zlib';

/** Decoders by content encoding. A test can request each of these encodings from the service. */
const UNPACKERS: Readonly<Record<string, () => Gunzip | Inflate>> = {
  gzip: createGunzip,
  deflate: createInflate,
};

export interface RawResponse {
  status: number;
  headers: IncomingHttpHeaders;
  /** The decoded body; empty for an event stream, whose connection is closed. */
  text: string;
}

export interface RawSending {
  /** Request body: JSON, except for strings and bytes, which are sent unchanged. */
  body?: unknown;
  /**
   * Additional headers, which override the headers of the body. A header that is undefined is not
   * sent.
   */
  headers?: OutgoingHttpHeaders;
  /** Whether to send the body in chunks, without `Content-Length`. */
  chunked?: boolean;
  /** Agent whose connections are used. Default: a new agent for this request. */
  over?: Agent;
}

/**
 * Sends the request with `node:http`, because `fetch` cannot set `Host` or send a body with GET,
 * and drops a response that comes before the body is sent.
 */
export async function sendRaw(
  url: string,
  method: string,
  path: string,
  { body, headers = {}, chunked = false, over }: RawSending = {},
): Promise<RawResponse> {
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
  // Keeps the connection alive, as real clients do, so that the service keeps reading after it has
  // responded.
  const agent = over ?? new Agent({ keepAlive: true });
  const request = httpRequest({
    agent,
    hostname,
    port,
    method,
    path,
    headers: Object.fromEntries(Object.entries(all).filter(([, text]) => text !== undefined)),
  });
  return new Promise<RawResponse>((resolve, reject) => {
    let hasResponded = false;
    request.on('error', (error) => {
      // An error after a response, such as one that came during the upload, does not matter.
      if (!hasResponded) reject(error);
    });
    request.on('response', (response) => {
      hasResponded = true;
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
