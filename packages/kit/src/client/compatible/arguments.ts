/** Validates arguments, and converts them to the wire format. */
import { padAptosAddress, toAptosNetwork } from '../../contract/rules/chains/aptos.ts';
import { toChainId } from '../../contract/rules/chains/chainId.ts';
import { toAddress } from '../../contract/rules/chains/evm.ts';
import { PAGE_LIMIT } from '../../contract/values.ts';
import { SluiceError } from '../../errors.ts';

const invalid = (message: string): SluiceError => new SluiceError('invalid_argument', message);

type Fields = Readonly<Record<string, unknown>>;

/** Converts the fields of a new EVM stream, or the changed fields of an existing one. */
export function toEvmBody(fields: object): Fields {
  const body: Record<string, unknown> = { ...fields };
  if (body['chainIds'] !== undefined) body['chainIds'] = toChainIds(body['chainIds']);
  for (const { selectors } of listOf(body['getNativeBalances'])) {
    for (const selector of Array.isArray(selectors) ? selectors : []) checkSelector(selector);
  }
  if (Array.isArray(body['triggers'])) body['triggers'] = body['triggers'].map(toTrigger);
  return body;
}

/** Converts the fields of a new Aptos stream, or the changed fields of an existing one. */
export function toAptosBody(fields: object): Fields {
  const body: Record<string, unknown> = { ...fields };
  const { network } = body;
  if (network === undefined) return body;
  if (!Array.isArray(network)) throw invalid('network should be an array, e.g. ["mainnet"]');
  body['network'] = network.map((value: unknown) => {
    const name = toAptosNetwork(value);
    if (name !== undefined) return name;
    throw invalid(`Aptos network is not supported: ${String(value)}`);
  });
  return body;
}

/** Returns the objects in a list, and drops any other values. */
const listOf = (value: unknown): Fields[] =>
  Array.isArray(value)
    ? value.filter((it): it is Fields => typeof it === 'object' && it !== null)
    : [];

function toTrigger(trigger: unknown): unknown {
  if (typeof trigger !== 'object' || trigger === null) return trigger;
  const body: Record<string, unknown> = { ...trigger };
  for (const name of ['contractAddress', 'callFrom']) {
    const value = body[name];
    const isSelector = typeof value === 'string' && value.startsWith('$');
    if (value !== undefined && !isSelector) body[name] = lowerAddress(value);
  }
  return body;
}

function checkSelector(value: unknown): void {
  if (typeof value === 'string' && value.startsWith('$')) return;
  throw new SluiceError('invalid_selector', 'Invalid selector string provided');
}

export function toChainIds(chainIds: unknown): string[] {
  if (Array.isArray(chainIds)) return chainIds.map((id) => toChainIdStrictly('chainIds', id));
  throw invalid('chainIds should be an array, e.g. ["0x1"]');
}

export function toChainIdStrictly(name: string, value: unknown): string {
  const id = toChainId(value);
  if (id !== undefined) return id;
  throw invalid(`${name}: ${show(value)} is not a chain ID; use hex such as "0x1" or a number`);
}

export function toBlockNumber(name: string, value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw invalid(`${name} should be a block number`);
}

export function toLimit(limit: number = PAGE_LIMIT): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= PAGE_LIMIT) return limit;
  throw invalid(`limit should be a whole number from 1 to ${PAGE_LIMIT}`);
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

export const lowerAddress = (value: unknown): string => {
  const address = toAddress(value);
  if (address !== undefined) return address;
  throw invalid(`Invalid address provided: ${show(value)} is not 0x and 40 hex digits`);
};

export const aptosAddress = (value: unknown): string => {
  const address = padAptosAddress(value);
  if (address !== undefined) return address;
  throw invalid(`Invalid address provided: ${show(value)} is not 0x and up to 64 hex digits`);
};

const show = (value: unknown): string => JSON.stringify(value) ?? 'nothing';
