/**
 * Compares `decodeLogs` with viem on every event in the ABIs of widely used contracts, as their
 * npm packages contain them: artifacts of Hardhat and 0x, and lists of deployments.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { decodeLogs } from '@sluice/kit';
import { type AbiItem, type AbiParameter, itemSignature, readAbi } from '@sluice/kit/contract';
import {
  type AbiEvent,
  type Hex,
  type AbiParameter as ViemParameter,
  decodeEventLog,
  encodeAbiParameters,
  encodeEventTopics,
  keccak256,
  toHex,
} from 'viem';
import { expect, test } from 'vitest';

/** Folders with ABIs, by package. */
const PEERS = {
  '@0x/contract-artifacts': 'lib/artifacts',
  '@account-abstraction/contracts': 'artifacts',
  '@openzeppelin/contracts-upgradeable': 'build/contracts',
  '@safe-global/safe-deployments': 'dist/assets',
  '@uniswap/v2-core': 'build',
  '@uniswap/v3-core': 'artifacts/contracts',
  '@uniswap/v3-periphery': 'artifacts/contracts',
};
const TESTKIT = { '@openzeppelin/contracts': 'build/contracts' };

const folders = (from: URL, packages: Record<string, string>): string[] => {
  const { resolve } = createRequire(from);
  return Object.entries(packages).map(([name, folder]) =>
    join(dirname(resolve(`${name}/package.json`)), folder),
  );
};

const files = [
  ...folders(new URL('../peers/package.json', import.meta.url), PEERS),
  ...folders(new URL('../../packages/testkit/package.json', import.meta.url), TESTKIT),
].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.json') && !path.endsWith('.dbg.json'))
    .toSorted()
    .map((path) => join(folder, path)),
);

/** The ABIs with events, without repetitions of one contract. */
const abis = new Map<string, AbiItem[]>();
/** Events that {@link readAbi} left out. */
const uncertain: unknown[] = [];
for (const file of files) {
  const abi = readAbi(readFileSync(file, 'utf8'));
  uncertain.push(...(abi?.uncertain ?? []));
  const events = (abi?.items ?? []).filter(({ type }) => type === 'event');
  if (events.length > 0) abis.set(`${file.split('/').at(-1)} ${JSON.stringify(events)}`, events);
}

/** Returns a value of a type, in viem's format. Values differ by `seed`. */
function valueOf({ type, components = [] }: AbiParameter, seed: number): unknown {
  const bracket = type.lastIndexOf('[');
  if (type.endsWith(']')) {
    const length = type.slice(bracket + 1, -1);
    const element = { name: '', type: type.slice(0, bracket), components };
    const count = length === '' ? seed % 4 : Number(length);
    return Array.from({ length: count }, (_, n) => valueOf(element, seed + n));
  }
  if (type === 'tuple') return components.map((each, n) => valueOf(each, seed + n));
  const hash = keccak256(toHex(`${type} ${seed}`));
  const [, base, size = ''] = /^([a-z]+)(\d*)$/.exec(type) ?? [];
  if (base === 'address') return `0x${hash.slice(26)}`;
  if (base === 'bool') return seed % 2 === 1;
  if (base === 'string') return `größer ☕ ${hash}`.slice(0, seed % 60);
  if (base === 'bytes' && size === '') return hash.slice(0, 2 + 2 * (seed % 33));
  if (base === 'bytes') return hash.slice(0, 2 + 2 * Number(size));
  const bits = Number(size || '256');
  const sign = base === 'int' && seed % 2 === 1 ? -1n : 1n;
  const value = BigInt.asUintN(base === 'int' ? bits - 1 : bits, BigInt(hash)) * sign;
  return bits > 48 ? value : Number(value);
}

const isHashed = ({ type }: AbiParameter): boolean => /^(string|bytes|tuple)$|\]$/.test(type);

/** Removes the names, so that viem returns arrays, in which equal names do not collide. */
const unnamed = (parameters: readonly AbiParameter[] = []): AbiParameter[] =>
  parameters.map(({ components, ...each }) => ({
    ...each,
    name: '',
    ...(components && { components: unnamed(components) }),
  }));

/** Converts values of viem and decodeLogs to one format: arrays, bigint and lowercase hex. */
function plain(value: unknown): unknown {
  if (typeof value === 'number') return BigInt(value);
  if (typeof value === 'string') return value.toLowerCase();
  return typeof value === 'object' && value !== null ? Object.values(value).map(plain) : value;
}

const HASH = keccak256('0x');

function check(item: AbiItem, seed: number): void {
  const inputs = unnamed(item.inputs);
  const values = inputs.map((input, n) => valueOf(input, seed + n));
  const hasHashes = inputs.some((input) => input.indexed && isHashed(input));
  const event = { ...item, inputs } as unknown as AbiEvent;
  // viem encodes topics only of values that fit a topic.
  const topicInputs = inputs.map((input) =>
    input.indexed && isHashed(input) ? { ...input, type: 'bytes32' } : input,
  );
  const args = values.map((value, n) => (topicInputs[n] === inputs[n] ? value : HASH));
  const [, ...indexed] = encodeEventTopics({
    abi: [{ ...event, anonymous: false, inputs: topicInputs }],
    args: args.filter((_, n) => inputs[n]!.indexed),
  }) as Hex[];
  const topic0 = keccak256(toHex(itemSignature(item)));
  const topics = item.anonymous ? indexed : [topic0, ...indexed];
  const data = encodeAbiParameters(
    inputs.filter((input) => !input.indexed) as ViemParameter[],
    values.filter((_, n) => !inputs[n]!.indexed),
  );
  const [t0 = null, t1 = null, t2 = null, t3 = null] = topics;
  const log = {
    logIndex: '0',
    transactionHash: HASH,
    address: `0x${'1'.repeat(40)}`,
    data,
    topic0: t0,
    topic1: t1,
    topic2: t2,
    topic3: t3,
  };
  const { decoded, undecoded } = decodeLogs({ logs: [log] }, [item]);
  expect(undecoded).toEqual([]);
  const theirs = decodeEventLog({ abi: [event], topics: topics as [Hex], data }) as {
    args?: unknown;
  };
  const ours = plain(decoded[0]?.args);
  expect(ours).toEqual(plain(theirs.args ?? []));
  expect(decoded[0]?.name).toBe(item.name);
  if (!hasHashes) expect(ours).toEqual(plain(values));
}

test('every event of at least 200 contracts decodes as with viem', () => {
  expect(uncertain).toEqual([]);
  const events = [...abis.values()].flat();
  for (const [n, item] of events.entries()) {
    for (const seed of [0, 1, 32, 61 + n]) check(item, seed);
  }
  const signatures = new Set(events.map(itemSignature));
  expect({ contracts: abis.size, events: events.length, signatures: signatures.size }).toEqual({
    contracts: 293,
    events: 1_352,
    signatures: 237,
  });
}, 120_000);
