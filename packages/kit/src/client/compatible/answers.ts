/** Reads responses of a service, with defaults for missing fields. */
import type { AptosStream, EvmStream } from '../../contract/shapes.generated.ts';
import type { Page } from '../../contract/generic.ts';
import { SluiceError } from '../../errors.ts';

/** A stream as a service returns it. Fields that the hosted service may omit are optional. */
export interface Stream extends Omit<EvmStream, 'createdAt' | 'updatedAt' | 'amountOfAddresses'> {
  /** ISO 8601 time. */
  createdAt?: string;
  /** ISO 8601 time. */
  updatedAt?: string;
  amountOfAddresses?: number;
}

const TEXTS = ['description', 'tag', 'statusMessage'] as const satisfies (keyof EvmStream &
  keyof AptosStream)[];

const EVM_FLAGS = [
  'allAddresses',
  'includeNativeTxs',
  'includeContractLogs',
  'includeInternalTxs',
  'includeAllTxLogs',
  'filterPossibleSpamAddresses',
  'demo',
  'notifyRemoved',
  'includeProofs',
  'strictOrder',
] as const satisfies (keyof EvmStream)[];

const EVM_NULLABLE = [
  'topic0',
  'abi',
  'advancedOptions',
  'triggers',
  'oauth2',
  'maxInFlight',
  'maxPerSecond',
  'maxWebhookBytes',
  'isErrorSince',
] as const satisfies (keyof EvmStream)[];

const APTOS_FLAGS = [
  'allAddresses',
  'includePayload',
  'includeEvents',
  'includeChanges',
  'demo',
  'strictOrder',
] as const satisfies (keyof AptosStream)[];

const APTOS_NULLABLE = [
  'oauth2',
  'maxInFlight',
  'maxPerSecond',
  'maxWebhookBytes',
  'isErrorSince',
] as const satisfies (keyof AptosStream)[];

const EVM_LISTS = ['getNativeBalances'] as const satisfies (keyof EvmStream)[];
const APTOS_LISTS = ['functions', 'events'] as const satisfies (keyof AptosStream)[];

/**
 * Adds defaults for the fields that the hosted service omits. Throws `invalid_response` if the
 * response is not a stream.
 */
export const toStream = (answer: unknown): Stream =>
  ({
    deliver: 'both',
    unverified: 'send',
    headers: {},
    ...fill(answer, EVM_FLAGS, EVM_NULLABLE, EVM_LISTS),
  }) as Stream;

export const toAptosStream = (answer: unknown): AptosStream =>
  ({ headers: {}, ...fill(answer, APTOS_FLAGS, APTOS_NULLABLE, APTOS_LISTS) }) as AptosStream;

/** Adds defaults for missing fields, and keeps unknown fields. */
function fill(
  answer: unknown,
  flags: readonly string[],
  nullable: readonly string[],
  lists: readonly string[],
): object {
  if (typeof answer !== 'object' || answer === null || !('id' in answer)) {
    throw new SluiceError('invalid_response', 'The response is not a stream');
  }
  const stream: Record<string, unknown> = { ...answer };
  for (const field of flags) stream[field] ??= false;
  for (const field of nullable) stream[field] ??= null;
  for (const field of lists) stream[field] ??= [];
  for (const field of TEXTS) stream[field] ??= '';
  return stream;
}

export function toPage<Row>(answer: unknown, toRow: (row: unknown) => Row): Page<Row> {
  const page = answer as Partial<Page<unknown>> | undefined;
  const result = Array.isArray(page?.result) ? page.result.map(toRow) : [];
  return { ...page, result, total: page?.total ?? 0 };
}
