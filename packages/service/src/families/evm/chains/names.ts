/** Resolves ENS names on the chain itself. */
import { compileParameters } from '@sluice/kit/contract';
import { encodeFunctionData, toHex } from 'viem/utils';
import { namehash, packetToBytes } from 'viem/ens';
import type { NameAnswer } from './ensNames.ts';
import { isReverted } from '../ingest/provider.ts';
import { SourceError } from '../../../ingest/source.ts';
import type { EvmSource } from '../ingest/source.ts';

/**
 * The ENS Universal Resolver (ENSIP-23), at the same address on each chain with ENS names
 * (docs.ens.domains/resolvers/universal).
 */
const UNIVERSAL_RESOLVER = '0xeeeeeeee14d718c2b47d9923deab1335e144eeee';
/** Selector of the error `OffchainLookup(address,string[],bytes,bytes4,bytes)` (EIP-3668). */
const OFFCHAIN_LOOKUP = '0x556f1830';
/** Maximum response size in bytes, because a resolver may return any amount of data. */
const MAX_ANSWER_BYTES = 64 * 1024;
const NOBODY = `0x${'0'.repeat(40)}`;

const ADDR = [
  {
    type: 'function',
    name: 'addr',
    stateMutability: 'view',
    inputs: [{ name: 'node', type: 'bytes32' }],
    outputs: [{ name: '', type: 'address' }],
  },
] as const;
const RESOLVE = [
  {
    type: 'function',
    name: 'resolve',
    stateMutability: 'view',
    inputs: [
      { name: 'name', type: 'bytes' },
      { name: 'data', type: 'bytes' },
    ],
    outputs: [
      { name: 'result', type: 'bytes' },
      { name: 'resolver', type: 'address' },
    ],
  },
] as const;

/** Maximum number of names that are resolved at once, because a resolver may never respond. */
const MAX_NAMES = 16;
/** Time in which a name must resolve. */
const DEADLINE_MS = 10_000;

/**
 * Creates a function that resolves a name at the head of the chain, to an address in lowercase. The
 * name is one from `toName`. The function throws a SourceError if no node has a valid response in
 * time, if too many names wait for one, or if the chain has no ENS names.
 *
 * @param deadlineMs default: {@link DEADLINE_MS}
 */
export function createNameReader(
  source: Pick<EvmSource, 'readHead' | 'requestAt'>,
  deadlineMs = DEADLINE_MS,
): (name: string) => Promise<NameAnswer> {
  let running = 0;
  return async (name) => {
    if (running >= MAX_NAMES) {
      throw new SourceError(
        'unreachable',
        `${running} names are already being resolved. Try again later`,
      );
    }
    running++;
    const answer = readName(source, name).finally(() => running--);
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      const message = `${name} did not resolve within ${deadlineMs / 1_000} s. Pass the address instead`;
      late.reject(new SourceError('unreachable', message));
    }, deadlineMs);
    try {
      return await Promise.race([answer, late.promise]);
    } finally {
      clearTimeout(timer);
    }
  };
}

async function readName(
  source: Pick<EvmSource, 'readHead' | 'requestAt'>,
  name: string,
): Promise<NameAnswer> {
  const node = namehash(name);
  const data = encodeFunctionData({
    abi: RESOLVE,
    args: [toHex(packetToBytes(name)), encodeFunctionData({ abi: ADDR, args: [node] })],
  });
  const head = await source.readHead();
  const at = toHex(head.number);
  let answer: unknown;
  try {
    const call = [{ to: UNIVERSAL_RESOLVER, data }, at];
    const how = { maxBytes: MAX_ANSWER_BYTES, order: 'slow' } as const;
    answer = await source.requestAt(head, 'eth_call', call, how);
  } catch (error) {
    if (!(error instanceof SourceError && isReverted(error))) throw error;
    return String(error.data).startsWith(OFFCHAIN_LOOKUP) ? 'elsewhere' : undefined;
  }
  if (answer === '0x') throw new SourceError('unsupported', 'this chain has no ENS names');
  return decode(answer);
}

const resolved = compileParameters(RESOLVE[0].outputs)!;
const resolvedAddress = compileParameters(ADDR[0].outputs)!;

function decode(answer: unknown): `0x${string}` | undefined {
  try {
    const [result] = resolved.decode(answer as string) as [string];
    if (result === '0x') return undefined;
    const [address] = resolvedAddress.decode(result);
    return address === NOBODY ? undefined : (address as `0x${string}`);
  } catch {
    throw new SourceError('inconsistent', 'the name did not resolve to a valid address');
  }
}
