/** Reads responses of a service, with defaults for missing fields. */
import type { AptosStream, EvmStream } from '../../contract/shapes.generated.ts';
import type { Page } from '../../contract/generic.ts';
import { aptosStreamDefaults, evmStreamDefaults } from '../../contract/streamFields.generated.ts';
import { SluiceError } from '../../errors.ts';

/** A stream as a service returns it. Fields that the hosted service may omit are optional. */
export interface Stream extends Omit<EvmStream, 'createdAt' | 'updatedAt' | 'amountOfAddresses'> {
  /** ISO 8601 time. */
  createdAt?: string;
  /** ISO 8601 time. */
  updatedAt?: string;
  amountOfAddresses?: number;
}

/**
 * Adds defaults for the fields that the hosted service omits. Throws `invalid_response` if the
 * response is not a stream.
 */
export const toStream = (body: unknown): Stream => fill(body, evmStreamDefaults()) as Stream;

export const toAptosStream = (body: unknown): AptosStream =>
  fill(body, aptosStreamDefaults()) as AptosStream;

/** Adds defaults for missing fields, and keeps unknown fields. */
function fill(body: unknown, defaults: object): object {
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
