/** Builds and sends the request of a call, and reads its response up to a size limit. */
import type { ApiCall } from './document.ts';

/** Number of bytes after which reading a response stops. */
const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;

export interface CallResponse {
  status: number;
  durationMs: number;
  bytes: number;
  /** True if reading stopped early, at the size limit or because the user stopped it. */
  isCut: boolean;
  requestId: string;
  text: string;
}

/**
 * Returns the path and query of a call. Splits the values of list parameters at commas, and omits
 * empty query parameters.
 */
export function toPath(call: ApiCall, values: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams();
  let { path } = call;
  for (const { name, in: where, schema } of call.parameters) {
    const value = values[name]?.trim() ?? '';
    if (where === 'path') path = path.replace(`{${name}}`, encodeURIComponent(value));
    else if (value !== '') {
      const parts = schema.type === 'array' ? value.split(',') : [value];
      for (const part of parts) query.append(name, part.trim());
    }
  }
  const search = query.toString();
  return search === '' ? path : `${path}?${search}`;
}

/**
 * Sends a request with the session of the page.
 * @param signal aborts the request. If the response has begun, the part received so far is
 * returned.
 * @throws if there is no response, or if reading it fails.
 */
export async function sendCall(
  { method }: ApiCall,
  path: string,
  body: string,
  signal: AbortSignal,
  onBytes: (bytes: number) => void,
): Promise<CallResponse> {
  const begun = performance.now();
  const response = await fetch(path, {
    method,
    signal,
    ...(body !== '' && { body, headers: { 'content-type': 'application/json' } }),
  });
  const reader = response.body?.getReader();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  let isCut = false;
  try {
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true };
      if (done || value === undefined) break;
      chunks.push(value);
      bytes += value.length;
      onBytes(bytes);
      if (bytes < MAX_RESPONSE_BYTES) continue;
      isCut = true;
      await reader?.cancel();
      break;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    isCut = true;
  }
  return {
    status: response.status,
    durationMs: performance.now() - begun,
    bytes,
    isCut,
    requestId: response.headers.get('x-request-id') ?? '',
    text: await new Blob(chunks as BlobPart[]).text(),
  };
}
