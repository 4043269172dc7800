import { setImmediate } from 'node:timers/promises';
import { keccak256 } from '@sluice/kit/contract';
import { createScriptedChain, startScriptedChain } from '@sluice/testkit';
import fc from 'fast-check';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Json } from '../../../ingest/json.ts';
import { type HeaderProof, createHeaderProver } from './headerLayout.ts';
import { bytesOf, quantityOf } from './proof/fields.ts';
import { SEARCH_HASHES, createHeaderTrial } from './layout/headerTrial.ts';
import { encodeRlp } from './proof/rlp.ts';

type Field = readonly [name: string, kind: 'bytes' | 'number'];

const FIRST: readonly Field[] = [
  ...(['parentHash', 'sha3Uncles', 'miner', 'stateRoot'] as const),
  ...(['transactionsRoot', 'receiptsRoot', 'logsBloom', '#difficulty', '#number'] as const),
  ...(['#gasLimit', '#gasUsed', '#timestamp', 'extraData', 'mixHash', 'nonce'] as const),
].map((name) => (name.startsWith('#') ? [name.slice(1), 'number'] : [name, 'bytes']));
const CANCUN: readonly Field[] = [
  ...FIRST,
  ['baseFeePerGas', 'number'],
  ['withdrawalsRoot', 'bytes'],
  ['blobGasUsed', 'number'],
  ['excessBlobGas', 'number'],
  ['parentBeaconBlockRoot', 'bytes'],
];

let block: Json;
beforeAll(async () => {
  const chain = createScriptedChain({ chainId: 1 });
  chain.mine();
  const node = await startScriptedChain({ chain });
  const params = [chain.head.hash, false];
  const body = JSON.stringify({ id: 1, method: 'eth_getBlockByHash', params });
  const response = await fetch(node.url, { method: 'POST', body });
  block = ((await response.json()) as { result: Json }).result;
  await node.stop();
});
afterEach(() => vi.useRealTimers());

/** Sets the hash of a header to the hash of these fields. */
const seal = (header: Json, fields: readonly Field[]): Json => ({
  ...header,
  hash: keccak256(
    encodeRlp(
      fields.map(([name, kind]) =>
        kind === 'bytes' ? bytesOf(header, name) : quantityOf(header, name),
      ),
    ),
  ),
});
const without = (header: Json, ...names: string[]): Json =>
  Object.fromEntries(Object.entries(header).filter(([name]) => !names.includes(name)));
const word = (digits: string): string => `0x${digits.padStart(64, '0')}`;
const NOT_FOUND = expect.objectContaining({ result: 'not-applicable' }) as HeaderProof;

describe('a header', () => {
  test('of known fields passes with the bytes that hash to its block', () => {
    const proof = createHeaderProver().check(block);
    if (proof.result !== 'passed') throw new Error(proof.result);
    expect(keccak256(proof.encoded)).toBe(block['hash']);
  });

  test('of known fields fails if one of them was altered', async () => {
    const altered = { ...block, gasUsed: '0x123' };
    expect(createHeaderProver().check(altered)).toEqual({ result: 'failed' });
    expect(await createHeaderProver().prove(altered, 'node')).toEqual({ result: 'failed' });
  });

  test.each([
    ['has a field with an unexpected value', { extraData: 'zz' }],
    ['has no hash', { hash: null }],
    ['lacks its extra data', { extraData: null }],
  ])('that %s fails', (_, change) => {
    expect(createHeaderProver().check({ ...block, ...change })).toEqual({ result: 'failed' });
  });

  test('with unknown fields that are not hashed passes without a search', () => {
    const listed = { ...block, timestampMs: '0x1', someField: '0x2' };
    expect(createHeaderProver().check(listed).result).toBe('passed');
  });

  test('with the two fields of the Glamsterdam fork passes without a search', () => {
    const later = { ...block, blockAccessListHash: word('12'), slotNumber: '0xac6000' };
    const fields = [...CANCUN, ['blockAccessListHash', 'bytes'], ['slotNumber', 'number']] as const;
    expect(createHeaderProver().check(seal(later, fields)).result).toBe('passed');
  });

  test('with a later fork after Glamsterdam is found', async () => {
    const later = {
      ...block,
      blockAccessListHash: word('12'),
      slotNumber: '0x2',
      nextField: word('34'),
    };
    const names = [
      ...CANCUN,
      ['blockAccessListHash', 'bytes'],
      ['slotNumber', 'number'],
      ['nextField', 'bytes'],
    ] as const;
    expect((await createHeaderProver().prove(seal(later, names), 'node')).result).toBe('passed');
  });
});

describe('layouts of networks', () => {
  const check = (header: Json): string => createHeaderProver().check(header).result;

  test('of Avalanche contain its own fields between those of Ethereum', () => {
    const header = {
      ...without(block, 'withdrawalsRoot'),
      extDataHash: word('aa'),
      extDataGasUsed: '0x0',
      blockGasCost: '0x1',
      settledHeight: '0x10',
      settledExcess: '0x11',
      blockExtraData: '0x',
    };
    const before: Field[] = [
      ...FIRST,
      ['extDataHash', 'bytes'],
      ['baseFeePerGas', 'number'],
      ['extDataGasUsed', 'number'],
      ['blockGasCost', 'number'],
      ['blobGasUsed', 'number'],
      ['excessBlobGas', 'number'],
      ['parentBeaconBlockRoot', 'bytes'],
    ];
    expect(check(seal(without(header, 'settledHeight', 'settledExcess'), before))).toBe('passed');
    // The node omits four optional fields before `settledHeight` and two after it.
    const empty = (name: string): Field => [name, 'number'];
    const gap = [
      ...before,
      ...['a', 'b', 'c', 'd'].map(empty),
      empty('settledHeight'),
      ...['e', 'f'].map(empty),
      empty('settledExcess'),
    ];
    expect(check(seal(header, gap))).toBe('passed');
  });

  test('of an Avalanche L1 have no hash of extra data', () => {
    const header = { ...without(block, 'withdrawalsRoot'), blockGasCost: '0x1' };
    const fields: Field[] = [
      ...FIRST,
      ['baseFeePerGas', 'number'],
      ['blockGasCost', 'number'],
      ['blobGasUsed', 'number'],
      ['excessBlobGas', 'number'],
      ['parentBeaconBlockRoot', 'bytes'],
    ];
    expect(check(seal(header, fields))).toBe('passed');
  });

  test('of XDC and Viction have the fields of validators before the base fee', () => {
    const header: Json = { ...block, validators: '0x', validator: '0x12', penalties: '0x' };
    const fields: Field[] = [
      ...FIRST,
      ['validators', 'bytes'],
      ['validator', 'bytes'],
      ['penalties', 'bytes'],
    ];
    expect(check(seal(without(header, 'baseFeePerGas'), fields))).toBe('passed');
    expect(check(seal(header, [...fields, ['baseFeePerGas', 'number']]))).toBe('passed');
  });

  test('of Moonbeam have no base fee, although its nodes list one', () => {
    expect(check(seal(without(block, ...CANCUN.slice(16).map(([name]) => name)), FIRST))).toBe(
      'passed',
    );
  });

  test('of Celo before Gingerbread have ten fields', () => {
    const left = new Set(['sha3Uncles', 'difficulty', 'gasLimit', 'mixHash', 'nonce']);
    const fields = FIRST.filter(([name]) => !left.has(name));
    expect(check(seal({ ...block, gasLimit: '0x0', difficulty: '0x0' }, fields))).toBe('passed');
  });

  describe('of Besu and GoQuorum leave seals out of the extra data:', () => {
    const MIX_HASH = '0x63746963616c2062797a616e74696e65206661756c7420746f6c6572616e6365';
    const vanity = Buffer.alloc(32, 1);
    const validators = [Buffer.alloc(20, 2), Buffer.alloc(20, 3)];
    const seals = [Buffer.alloc(65, 4), Buffer.alloc(65, 5)];
    const empty = Buffer.alloc(0);
    const toHex = (bytes: Uint8Array): string => `0x${Buffer.from(bytes).toString('hex')}`;

    test.each([
      [
        'QBFT',
        encodeRlp([vanity, validators, [], Buffer.of(7), seals]),
        encodeRlp([vanity, validators, [], empty, []]),
      ],
      [
        'QBFT with a vote',
        encodeRlp([vanity, validators, [validators[0]!, Buffer.of(255)], empty, seals]),
        encodeRlp([vanity, validators, [validators[0]!, Buffer.of(255)], empty, []]),
      ],
      [
        'IBFT 2.0',
        encodeRlp([vanity, validators, empty, Buffer.alloc(4, 1), seals]),
        encodeRlp([vanity, validators, empty]),
      ],
      [
        'IBFT',
        Buffer.concat([vanity, encodeRlp([validators, seals[0]!, seals])]),
        Buffer.concat([vanity, encodeRlp([validators, seals[0]!, []])]),
      ],
    ])('%s', (_, listed, hashed) => {
      const header = { ...block, mixHash: MIX_HASH, extraData: toHex(hashed) };
      const { hash } = seal(header, CANCUN);
      const sealed = { ...header, hash, extraData: toHex(listed) };
      expect(check(sealed)).toBe('passed');
      expect(check({ ...sealed, gasUsed: '0x77' })).toBe('failed');
      expect(check({ ...sealed, extraData: toHex(listed.subarray(0, 90)) })).toBe('failed');
    });
  });
});

const KNOWN = new Set(['hash', 'size', 'author', ...CANCUN.map(([name]) => name)]);
const name = fc
  .stringMatching(/^[a-z][A-Za-z]{2,11}$/)
  .filter((each) => !KNOWN.has(each) && !(each in {}));
const hexOf = (bytes: Uint8Array): string => `0x${Buffer.from(bytes).toString('hex')}`;
const bytesValue = fc
  .tuple(fc.constantFrom(0, 1, 2), fc.uint8Array({ minLength: 0, maxLength: 48 }))
  .map(([zeros, bytes]) => hexOf(new Uint8Array([...Array<number>(zeros).fill(0), ...bytes])));
const numberValue = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 70n }).map((value) => `0x${value.toString(16)}`),
  fc.nat(1_000_000).map((value) => `0x00${value.toString(16)}`),
  fc.nat(),
);
/** A field of a fork, or one that a node adds. */
const field = fc.oneof(
  fc.record({ kind: fc.constant('bytes' as const), value: bytesValue }),
  fc.record({ kind: fc.constant('number' as const), value: numberValue }),
);
/** A header with appended fields among others, in any order. */
const fork = fc
  .record({
    names: fc.uniqueArray(name, { minLength: 6, maxLength: 6 }),
    appended: fc.array(field, { minLength: 1, maxLength: 3 }),
    others: fc.array(fc.oneof(field, fc.constant({ value: [1, 2] })), { maxLength: 3 }),
    salt: fc.integer(),
  })
  .map(({ names, appended, others, salt }) => {
    const fields = [...appended, ...others].map((each, n) => ({ ...each, name: names[n]! }));
    const listed = fields.toSorted((a, b) => order(a.name, salt) - order(b.name, salt));
    const hashed = fields.slice(0, appended.length).map((each): Field => {
      return [each.name, 'kind' in each ? each.kind : 'bytes'];
    });
    const values = Object.fromEntries(listed.map((each) => [each.name, each.value]));
    return { values, hashed };
  });
const order = (text: string, salt: number): number =>
  Number.parseInt(keccak256(`${salt}${text}`).slice(2, 12), 16);
const sealFork = ({ values, hashed }: { values: Json; hashed: readonly Field[] }): Json => {
  const inHex = Object.fromEntries(
    Object.entries(values).map(([key, value]) => [
      key,
      typeof value === 'number' ? `0x${value.toString(16)}` : value,
    ]),
  );
  const { hash } = seal({ ...block, ...inHex }, [...CANCUN, ...hashed]);
  return { ...block, ...values, hash };
};

describe('a header with 1 to 3 appended fields of unknown names and kinds', () => {
  test('is proven among up to 3 fields that are not hashed, and again without a search', async () => {
    await fc.assert(
      fc.asyncProperty(fork, async (made) => {
        const header = sealFork(made);
        const prover = createHeaderProver();
        const proof = await prover.prove(header, 'node');
        if (proof.result !== 'passed') throw new Error(JSON.stringify(proof));
        expect(keccak256(proof.encoded)).toBe(header['hash']);
        const next = sealFork({ ...made, values: { ...header, ...made.values, gasUsed: '0x5' } });
        expect(prover.check(next).result).toBe('passed');
      }),
      { numRuns: 500 },
    );
  });

  test('is never proven if it does not hash to its block', async () => {
    await fc.assert(
      fc.asyncProperty(
        fork,
        fc.nat(),
        fc.integer({ min: 1, max: 15 }),
        async (made, pick, change) => {
          const header = sealFork(made);
          const prover = createHeaderProver();
          await prover.prove(header, 'honest');
          const names = [...CANCUN.map(([each]) => each), 'hash'];
          const altered = names[pick % names.length]!;
          const value = String(header[altered]);
          const digit = (Number.parseInt(value.at(-1)!, 16) + change) % 16;
          const lie = { ...header, [altered]: value.slice(0, -1) + digit.toString(16) };
          const proof = await prover.prove(lie, 'liar');
          expect(proof.result).not.toBe('passed');
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe('a search', () => {
  const hashed: readonly Field[] = [['forkField', 'bytes']];
  const later = (values: Json = {}): Json =>
    sealFork({ values: { forkField: word('77'), ...values }, hashed });
  const spoiled = (values: Json): Json => ({ ...later(values), gasUsed: '0x999' });

  test('hashes at most 2,000 times', () => {
    const values = Object.fromEntries(
      Array.from({ length: 12 }, (_, n) => [`field${n}`, `0x00${n}0`]),
    );
    const attempts = [...createHeaderTrial({ ...block, ...values }).search(Object.keys(values))];
    expect(attempts).toHaveLength(SEARCH_HASHES);
  });

  test('hashes a very long header less often', () => {
    const long = { ...block, extraData: `0x${'12'.repeat(100_000)}`, a: '0x1', b: '0x2', c: '0x3' };
    const attempts = [...createHeaderTrial(long).search(['a', 'b', 'c', 'd', 'e', 'f'])];
    expect(attempts.length).toBeLessThan(84);
  });

  test('lets other work run', async () => {
    const values = Object.fromEntries(
      Array.from({ length: 12 }, (_, n) => [`field${n}`, `0x00${n}0`]),
    );
    const clock = vi.spyOn(performance, 'now');
    let time = 0;
    clock.mockImplementation(() => (time += 0.01));
    let turns = 0;
    let isDone = false;
    const search = createHeaderProver()
      .prove({ ...block, ...values, hash: word('1') }, 'node')
      .finally(() => (isDone = true));
    while (!isDone) {
      await setImmediate();
      turns++;
    }
    await search;
    clock.mockRestore();
    // 2,000 hashes take 20 ms by this clock.
    expect(turns).toBeGreaterThanOrEqual(3);
  });

  test('runs once for blocks that are read in parallel', async () => {
    // The search reads the clock after each hash.
    const clock = vi.spyOn(performance, 'now');
    const listed = Object.fromEntries(
      Array.from({ length: 5 }, (_, n) => [`field${n}`, `0x00${n}0`]),
    );
    const count = async (blocks: number): Promise<number> => {
      clock.mockClear();
      const prover = createHeaderProver();
      const proofs = await Promise.all(
        Array.from({ length: blocks }, (_, n) =>
          prover.prove(
            sealFork({ values: { ...listed, gasUsed: `0x${n}` }, hashed: last }),
            'node',
          ),
        ),
      );
      expect(proofs.every(({ result }) => result === 'passed')).toBe(true);
      return clock.mock.calls.length;
    };
    const last: Field[] = [
      ['field4', 'bytes'],
      ['field1', 'bytes'],
    ];
    const once = await count(1);
    expect(once).toBeGreaterThan(100);
    expect(await count(8)).toBeLessThan(1.5 * once);
    clock.mockRestore();
  });

  test('that fails pauses the node for a minute, but no other node', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const prover = createHeaderProver();
    expect(await prover.prove(spoiled({ invented: '0x1' }), 'liar')).toEqual({
      result: 'not-applicable',
      reason: 'unknown header fields forkField, invented',
    });
    expect(await prover.prove(later(), 'liar')).toEqual(NOT_FOUND);
    vi.advanceTimersByTime(59_000);
    expect(await prover.prove(later(), 'liar')).toEqual(NOT_FOUND);
    vi.advanceTimersByTime(1_000);
    expect((await prover.prove(later(), 'liar')).result).toBe('passed');
    const another = createHeaderProver();
    await another.prove(spoiled({}), 'liar');
    expect((await another.prove(later(), 'honest')).result).toBe('passed');
  });

  test('for the same fields of a node pauses longer after each failure', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const prover = createHeaderProver();
    await prover.prove(spoiled({}), 'node');
    vi.advanceTimersByTime(60_000);
    await prover.prove(spoiled({}), 'node');
    vi.advanceTimersByTime(60_000);
    expect(await prover.prove(later(), 'node')).toEqual(NOT_FOUND);
    vi.advanceTimersByTime(60_000);
    expect((await prover.prove(later(), 'node')).result).toBe('passed');
  });

  test('of a node that invents blocks with new layouts is limited, too', async () => {
    const prover = createHeaderProver();
    const results = [];
    for (let n = 0; n < 40; n++) {
      const fields: Field[] = [[`invented${n}`, 'bytes']];
      const header = sealFork({ values: { [`invented${n}`]: word('5') }, hashed: fields });
      results.push((await prover.prove(header, 'liar')).result);
    }
    expect(results.filter((result) => result === 'passed')).toHaveLength(17);
  });

  test('finds a field that a node listed before a fork hashed it', async () => {
    const prover = createHeaderProver();
    expect(prover.check({ ...block, forkField: word('77') }).result).toBe('passed');
    expect(prover.check(later())).toEqual(NOT_FOUND);
    expect((await prover.prove(later(), 'node')).result).toBe('passed');
  });

  test('that fails for fields of proven headers means that the header is wrong', async () => {
    const prover = createHeaderProver();
    await prover.prove(later({ alsoListed: '0x1' }), 'honest');
    const altered = { ...later({ alsoListed: '0x1' }), stateRoot: word('1') };
    expect(await prover.prove(altered, 'liar')).toEqual({ result: 'failed' });
    expect(await prover.prove({ ...altered, invented: '0x1' }, 'liar')).toEqual(NOT_FOUND);
  });

  test('is not repeated if a node adds a field to a known layout', async () => {
    const prover = createHeaderProver();
    await prover.prove(later(), 'node');
    expect(prover.check(later({ added: '0x1' })).result).toBe('passed');
  });

  test('is needed again for a layout that was not used for a day', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const prover = createHeaderProver();
    await prover.prove(later(), 'node');
    vi.advanceTimersByTime(86_400_001);
    const other: Field[] = [['anotherField', 'bytes']];
    await prover.prove(sealFork({ values: { anotherField: word('5') }, hashed: other }), 'node');
    expect(prover.check(later())).toEqual(NOT_FOUND);
  });
});
