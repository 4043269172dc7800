/** Checks whether an address is a contract, and finds the implementations of proxies. */
import type { BlockRef } from '../../../store/blocks/contract.ts';
import { toHex } from '../../../ingest/json.ts';
import { SourceError } from '../../../ingest/source.ts';
import type { EvmSource } from '../ingest/source.ts';

/** Storage slots in which proxies store the address of their implementation. */
const SLOTS = [
  // EIP-1967
  '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc',
  // keccak256('org.zeppelinos.proxy.implementation'), for older proxies
  '0x7050c9e0f4ca769c69bd3a8ef740bc37934f8e2c036e5a723fd8ee048ed3f8c3',
];
const ADDRESS = /^0x0{24}([0-9a-f]{40})$/;
const NOBODY = '0'.repeat(40);

type HeadSource = Pick<EvmSource, 'readHead' | 'requestAt'>;

const callAt = async (
  source: HeadSource,
  head: BlockRef,
  method: string,
  ...params: readonly string[]
): Promise<string> => {
  const answer = await source.requestAt(head, method, [...params, toHex(head.number)]);
  if (typeof answer === 'string' && answer.startsWith('0x')) return answer.toLowerCase();
  throw new SourceError('inconsistent', `${method} did not return hex`);
};

/** Returns the head block at which the code was read; undefined if the address has no code. */
export async function findContract(
  source: HeadSource,
  address: string,
): Promise<BlockRef | undefined> {
  const head = await source.readHead();
  return (await callAt(source, head, 'eth_getCode', address)) === '0x' ? undefined : head;
}

/**
 * Returns the address of the implementation in lowercase; undefined if no known slot contains one.
 */
export async function readImplementation(
  source: HeadSource,
  address: string,
): Promise<string | undefined> {
  const head = await source.readHead();
  for (const slot of SLOTS) {
    const word = await callAt(source, head, 'eth_getStorageAt', address, slot);
    const found = ADDRESS.exec(word)?.[1];
    if (found !== undefined && found !== NOBODY) return `0x${found}`;
  }
  return undefined;
}
