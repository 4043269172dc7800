/** Reads responses of a service, with defaults for missing fields. */
import type { Page } from '../../contract/generic.ts';
import { SluiceError } from '../../errors.ts';

/**
 * Adds defaults for missing fields of a stream, and keeps unknown fields. Throws `invalid_response`
 * if the response is not a stream.
 */
export function fillDefaults(body: unknown, defaults: object): object {
  if (typeof body !== 'object' || body === null || !('id' in body)) {
    throw new SluiceError('invalid_response', 'The response is not a stream');
  }
  const stream: Record<string, unknown> = { ...body };
  for (const [field, value] of Object.entries(defaults)) stream[field] ??= value;
  return stream;
}

export function toPage<Row>(body: unknown, toRow: (row: unknown) => Row): Page<Row> {
  const page = body as Partial<Page<unknown>> | undefined;
  const result = Array.isArray(page?.result) ? page.result.map(toRow) : [];
  return { ...page, result, total: page?.total ?? 0 };
}
