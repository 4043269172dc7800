/** Validates arguments, and converts them to the wire format. */
import { toChainId } from '../../families/evm/chains.ts';
import { SluiceError } from '../../errors.ts';

export const invalidArgument = (message: string): SluiceError =>
  new SluiceError('invalid_argument', message);

export type Fields = Readonly<Record<string, unknown>>;

export function toChainIds(chainIds: unknown): string[] {
  if (Array.isArray(chainIds)) return chainIds.map((id) => toChainIdStrictly('chainIds', id));
  throw invalidArgument('chainIds should be an array, e.g. ["0x1"]');
}

export function toChainIdStrictly(name: string, value: unknown): string {
  const id = toChainId(value);
  if (id !== undefined) return id;
  throw invalidArgument(
    `${name}: ${toText(value)} is not a chain ID; use hex such as "0x1" or a number`,
  );
}

export function toBlockNumber(name: string, value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw invalidArgument(`${name} should be a block number`);
}

/** Applies `normalize` to one address or to each address in a list. */
export function mapAddresses(
  given: string | readonly string[],
  normalize: (value: unknown) => string,
): string | string[] {
  return Array.isArray(given) ? given.map(normalize) : normalize(given);
}

/**
 * Returns an object with the field `labels`, with `normalize` applied to the addresses. The object is
 * empty if no labels are given.
 */
export function toLabels(
  labels: Readonly<Record<string, string>> | undefined,
  normalize: (value: unknown) => string,
): { labels?: Record<string, string> } {
  if (labels === undefined) return {};
  const normalized = Object.entries(labels).map(([address, label]) => [normalize(address), label]);
  return { labels: Object.fromEntries(normalized) as Record<string, string> };
}

export const toText = (value: unknown): string => JSON.stringify(value) ?? 'nothing';

/** Labels of addresses, in a call that adds or replaces addresses. */
export interface LabelOptions {
  /**
   * Labels by address, for addresses in this call. Addresses may have any casing. A label has at
   * most 64 characters; an empty one removes the label. `listAddresses` returns labels as `label`.
   * Sluice only; the hosted service rejects them.
   */
  readonly labels?: Readonly<Record<string, string>> | undefined;
}
