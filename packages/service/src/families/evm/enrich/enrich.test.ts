import { RetryableError } from '../../../base/errors.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { verifySignature } from '@sluice/kit';
import {
  DEFAULT_MAX_WEBHOOK_BYTES,
  type EvmWebhook,
  type StreamTrigger,
  signWebhook,
} from '@sluice/kit/contract';
import fc from 'fast-check';
import { encodeAbiParameters } from 'viem';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createLog } from '../../../base/log.ts';
import { newMatch } from '../../../../test/store/newMatch.ts';
import { createAddressChanges } from '../../../store/addresses/addressChanges.ts';
import { packAddresses } from '../../../store/addresses/packedAddresses.ts';
import { joinBody, splitBody } from '../../../store/blocks/body.ts';
import { openSqliteStore } from '../../../store/engine/sqlite/sqlite.ts';
import { takeChain } from '../../../../test/store/takeChain.ts';
import type { BlockHeader } from '../../../store/blocks/contract.ts';
import {
  DEFAULT_DELIVERY,
  DEFAULT_OPTIONS,
  type StreamOptions,
} from '../../../store/streams/contract.ts';
import type { Store } from '../../../store/store.ts';
import { type EvmEnrich, createEnrich } from './enrich.ts';
import { TOKENS_ONLY, planOf } from './plan.ts';
import type { BodyTail } from './records.ts';
import { type EnrichState, type StateAnswer } from './state.ts';
import { plain } from '../../../../test/store/plain.ts';

const CHAIN = '0x1';
/** Epoch of each chain's lease, which is taken once. */
const EPOCH = 1;
const TOKEN = `0x${'70'.repeat(20)}`;
const HOLDER = `0x${'01'.repeat(20)}`;
const hash = (n: number): string => `0x${n.toString(16).padStart(64, '0')}`;
const header = (number: number): BlockHeader => ({
  number,
  hash: hash(number),
  parentHash: hash(number - 1),
  timestamp: 1_700_000_000 + number,
});

const transferOf = (contract: string): BodyTail => ({
  block: { number: '1', hash: hash(1), timestamp: '1700000001' },
  logs: [],
  txs: [],
  txsInternal: [],
  erc20Transfers: [
    {
      transactionHash: hash(77),
      logIndex: '0',
      contract,
      from: HOLDER,
      to: HOLDER,
      value: '1500000',
      tokenName: '',
      tokenSymbol: '',
      tokenDecimals: '',
      possibleSpam: false,
    },
  ],
  erc20Approvals: [],
  nftTokenApprovals: [],
  nftApprovals: { ERC721: [], ERC1155: [] },
  nftTransfers: [],
  nativeBalances: [],
});

/** A body without transfers, in which these addresses matched. */
const matchedOf = (...addresses: (string | null)[]): BodyTail => ({
  ...transferOf(TOKEN),
  erc20Transfers: [],
  matched: addresses.map((address) => ({ address, label: null, factory: null, rules: [] })),
});

const balanceTrigger: StreamTrigger = {
  type: 'erc20transfer',
  contractAddress: '$contract',
  functionAbi: {
    type: 'function',
    name: 'balanceOf',
    stateMutability: 'view',
    inputs: [{ name: 'account', type: 'address' }],
    outputs: [{ name: 'balance', type: 'uint256' }],
  },
  inputs: ['$from'],
};

const WANTS_ALL: StreamOptions = {
  ...DEFAULT_OPTIONS,
  triggers: [balanceTrigger],
  getNativeBalances: [{ type: 'erc20transfer', selectors: ['$from', '$contract'] }],
};

const text = (value: string): string => encodeAbiParameters([{ type: 'string' }], [value]);
const number = (value: bigint): string => encodeAbiParameters([{ type: 'uint256' }], [value]);
const read = (value: string): StateAnswer => ({ outcome: 'read', value });

/**
 * A chain where every token is Test Dollar with 6 decimals, and every address has a token balance
 * of 42 and a native balance of 7 wei.
 */
const goodState: EnrichState = {
  call: (_, calls) =>
    Promise.resolve(
      calls.map(({ data }): StateAnswer => {
        if (data === '0x06fdde03') return read(text('Test Dollar'));
        if (data === '0x95d89b41') return read(text('TDL'));
        if (data === '0x313ce567') return read(number(6n));
        if (data.startsWith('0x70a08231')) return read(number(42n));
        return { outcome: 'failed', message: 'execution reverted' };
      }),
    ),
  balances: (_, addresses) => Promise.resolve(addresses.map(() => read('7'))),
  failures: (_, hashes) =>
    Promise.resolve(
      hashes.map(() => ({ outcome: 'read', failure: { error: 'out of gas', output: '0x' } })),
    ),
  isGone: () => false,
};

const refused: StateAnswer = { outcome: 'refused', message: 'no node has the state of block 1' };
const refusing: EnrichState = {
  call: (_, calls) => Promise.resolve(calls.map(() => refused)),
  balances: (_, addresses) => Promise.resolve(addresses.map(() => refused)),
  failures: (_, hashes) => Promise.resolve(hashes.map(() => refused)),
  isGone: () => false,
};

const ENRICHED = {
  erc20Transfers: [
    {
      tokenName: 'Test Dollar',
      tokenSymbol: 'TDL',
      tokenDecimals: '6',
      valueWithDecimals: '1.5',
      triggers: [{ name: 'balance', value: '42' }],
    },
  ],
  nativeBalances: [
    { address: HOLDER, balance: '7' },
    { address: TOKEN, balance: '7' },
  ],
};

describe('enrichment', () => {
  let folder: string;
  let store: Store;
  let enriches: EvmEnrich[];
  /** Resolver that ends the reads of `stalled`. */
  let released: PromiseWithResolvers<void>;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-enrich-'));
    store = await openSqliteStore(folder);
    enriches = [];
    released = Promise.withResolvers();
  });

  afterEach(async () => {
    released.resolve();
    await Promise.all(enriches.map((enrich) => enrich.stop()));
    await store.close();
    rmSync(folder, { recursive: true });
  });

  const start = (state: EnrichState, chain = CHAIN, its = store, retryMs = 5): EvmEnrich => {
    const enrich = createEnrich({
      chain,
      store: its,
      state,
      log: createLog(() => {}),
      maxWebhookBytes: DEFAULT_MAX_WEBHOOK_BYTES,
      retryMs,
    });
    enriches.push(enrich);
    enrich.start(EPOCH);
    return enrich;
  };

  const stalled: EnrichState = {
    async call(_, calls) {
      await released.promise;
      return calls.map(() => refused);
    },
    async balances(_, addresses) {
      await released.promise;
      return addresses.map(() => refused);
    },
    async failures(_, hashes) {
      await released.promise;
      return hashes.map(() => refused);
    },
    isGone: () => false,
  };

  const createStream = (chain = CHAIN) =>
    store.createStream(
      plain({
        family: 'evm',
        tag: 'tag',
        description: '',
        webhookUrl: 'http://127.0.0.1:1/',
        chainIds: [chain],
        options: WANTS_ALL,
        ...DEFAULT_DELIVERY,
      }),
    );

  /**
   * Starts a chain, and returns a function that commits a block with a match of each given stream.
   */
  const startChain = async (chain = CHAIN) => {
    expect(await takeChain(store, chain)).toBe(EPOCH);
    await store.startChain({ chain, epoch: EPOCH, block: header(0), genesisHash: hash(0) });
    let height = 0;
    return async (streamIds: string[], tail = transferOf(TOKEN), confirmUpTo = -1) => {
      const { revision } = await store.readRules(Number.MAX_SAFE_INTEGER, 'evm');
      const result = await store.commitBlock({
        chain,
        epoch: EPOCH,
        block: header(++height),
        ruleRevision: revision,
        confirmUpTo,
        windowBlocks: 256,
        matches: streamIds.map((streamId) =>
          newMatch(streamId, {
            enrichment: planOf(WANTS_ALL, tail) ?? TOKENS_ONLY,
            ...splitBody({ chainId: chain, abi: [], streamId, tag: 'tag' }, tail),
          }),
        ),
      });
      expect(result.outcome).toBe('committed');
    };
  };

  const deliveriesOf = async (streamId: string) =>
    (await store.listDeliveries({ limit: 100, streamId })).rows;

  const untilAll = (streamId: string, state: string, timeout = 15_000) =>
    expect
      .poll(async () => new Set((await deliveriesOf(streamId)).map((each) => each.state)), {
        timeout,
      })
      .toEqual(new Set([state]));

  const bodyOf = async (streamId: string): Promise<EvmWebhook> => {
    const [delivery] = await deliveriesOf(streamId);
    return JSON.parse((await store.readDeliveryBody(delivery!.id))!) as EvmWebhook;
  };

  test('completes a body once, and makes both of its deliveries due', async () => {
    const { id } = await createStream();
    const commit = await startChain();
    await commit([id]);
    // The match is confirmed before its body is complete.
    await commit([], undefined, 1);
    expect((await deliveriesOf(id)).map(({ phase, state }) => [phase, state])).toEqual([
      ['confirmed', 'enriching'],
      ['unconfirmed', 'enriching'],
    ]);
    start(goodState);
    await untilAll(id, 'pending');
    expect(await bodyOf(id)).toMatchObject(ENRICHED);
  });

  test('completes matches that were in progress when the process died', async () => {
    const { id } = await createStream();
    const commit = await startChain();
    await commit([id]);
    const enrich = start(stalled);
    await expect.poll(() => store.listEnriching(all())).toHaveLength(1);
    // The store closes before the stalled reads end, so they write nothing, as after a crash.
    void enrich.stop();
    await store.close();
    store = await openSqliteStore(folder);
    start(goodState);
    await untilAll(id, 'pending');
    expect(await bodyOf(id)).toMatchObject(ENRICHED);
  });

  /** Adds the holder to the addresses of a stream, with this label. */
  const label = (streamId: string, text: string) =>
    createAddressChanges(store).add(streamId, {
      addresses: packAddresses([HOLDER]),
      labels: new Map([[HOLDER, text]]),
      keyId: 'bootstrap',
    });

  test('adds the labels of matched addresses, which need the ledger but no node', async () => {
    const { id } = await createStream();
    const other = await createStream();
    await label(id, 'customer-7');
    await label(other.id, 'customer-8');
    const commit = await startChain();
    await commit([id], matchedOf(TOKEN, HOLDER, null));
    let failures = 7;
    const unavailable: Store = {
      ...store,
      listLabels: (...asked) =>
        failures-- > 0 ? Promise.reject(new Error('no connection')) : store.listLabels(...asked),
    };
    start(undefined as never, CHAIN, unavailable);
    await untilAll(id, 'pending');
    const labels = async () =>
      (await bodyOf(id)).matched?.map((each) => [each.address, each.label]);
    const expected = [
      [TOKEN, null],
      [HOLDER, 'customer-7'],
      [null, null],
    ];
    expect(await labels()).toEqual(expected);
    await label(id, 'customer-9');
    await commit([], undefined, 1);
    expect((await deliveriesOf(id)).map(({ phase }) => phase)).toEqual([
      'confirmed',
      'unconfirmed',
    ]);
    expect(await labels()).toEqual(expected);
  });

  const all = () => ({
    chain: CHAIN,
    limit: 100,
    perStream: 10,
    notStreams: [],
    notMatches: [],
  });

  test('sets aside a body that the ledger rejects, with the reason, and makes the others due', async () => {
    const ledger = store;
    const bad = await createStream();
    const fine = await Promise.all(Array.from({ length: 20 }, () => createStream()));
    const commit = await startChain();
    await commit([bad.id, ...fine.map(({ id }) => id)]);
    const [odd] = (await store.listEnriching({ ...all(), limit: 1 })).filter(
      ({ streamId }) => streamId === bad.id,
    );
    const sizes: number[] = [];
    const held = Promise.withResolvers<void>();
    let asked = 0;
    store = {
      ...ledger,
      async completeEnrichments(given) {
        // Delays the first write until every match is being completed, so that the other writes
        // queue up behind it.
        if (sizes.length === 0) await held.promise;
        sizes.push(given.completed.length);
        const refuses = given.completed.some((each) => each.matchId === odd!.id && 'about' in each);
        if (refuses) throw new Error('invalid input syntax for type json');
        return ledger.completeEnrichments(given);
      },
    };
    start({
      ...goodState,
      balances(block, addresses) {
        if (++asked === 1 + fine.length) held.resolve();
        return goodState.balances(block, addresses);
      },
    });
    for (const { id } of fine) await untilAll(id, 'pending');
    await untilAll(bad.id, 'quarantined');
    const [delivery] = await deliveriesOf(bad.id);
    expect(delivery!.error).toMatch(/^the ledger rejected the body: invalid input syntax/);
    // A rejected body must not make the service write the other bodies one by one.
    expect(sizes.length).toBeLessThan(fine.length);
  });

  test('delays no other chain if the node of one stalls', async () => {
    const here = await createStream();
    const there = await createStream('0x2');
    const commitHere = await startChain();
    const commitThere = await startChain('0x2');
    for (let n = 0; n < 20; n++) await commitHere([here.id]);
    start(stalled);
    const enrich = start(goodState, '0x2');
    await commitThere([there.id]);
    enrich.wake();
    await untilAll(there.id, 'pending');
    expect(new Set((await deliveriesOf(here.id)).map(({ state }) => state))).toEqual(
      new Set(['enriching']),
    );
  });

  test('delays no other stream of a chain if the calls of one stall', async () => {
    const slow = await createStream();
    const quick = await createStream();
    const commit = await startChain();
    const slowToken = `0x${'51'.repeat(20)}`;
    for (let n = 0; n < 40; n++) await commit([slow.id], transferOf(slowToken));
    const enrich = start({
      ...goodState,
      async call(block, calls) {
        if (calls.some(({ to }) => to === slowToken)) await released.promise;
        return goodState.call(block, calls);
      },
    });
    await commit([quick.id]);
    enrich.wake();
    await untilAll(quick.id, 'pending');
    expect(new Set((await deliveriesOf(slow.id)).map(({ state }) => state))).toEqual(
      new Set(['enriching']),
    );
    released.resolve();
    await untilAll(slow.id, 'pending');
  });

  test('delays no other stream of a chain if the calls of many streams stall', async () => {
    const slow = await Promise.all(Array.from({ length: 12 }, () => createStream()));
    const quick = await createStream();
    const commit = await startChain();
    const slowToken = `0x${'51'.repeat(20)}`;
    const ids = slow.map(({ id }) => id);
    for (let n = 0; n < 6; n++) await commit(ids, transferOf(slowToken));
    const enrich = start({
      ...goodState,
      async call(block, calls) {
        if (calls.some(({ to }) => to === slowToken)) await released.promise;
        return goodState.call(block, calls);
      },
    });
    await commit([quick.id]);
    enrich.wake();
    await untilAll(quick.id, 'pending');
    released.resolve();
    for (const id of ids) await untilAll(id, 'pending');
  });

  test('delays no other stream of a chain if the nodes refuse the calls of some', async () => {
    const some = await Promise.all(Array.from({ length: 3 }, () => createStream()));
    const quick = await createStream();
    const commit = await startChain();
    const ids = some.map(({ id }) => id);
    const tokenOf = (n: number): string => `0x51${n.toString(16).padStart(38, '0')}`;
    for (let n = 0; n < 20; n++) await commit(ids, transferOf(tokenOf(n)));
    let lastAt = performance.now();
    const state: EnrichState = {
      ...goodState,
      call(block, calls) {
        const { to } = calls[0]!;
        if (!to.startsWith('0x51')) return goodState.call(block, calls);
        lastAt = performance.now();
        return refusing.call(block, calls);
      },
    };
    const enrich = start(state, CHAIN, store, 60_000);
    // As many matches as may wait for their second try.
    await expect.poll(() => performance.now() - lastAt).toBeGreaterThan(500);
    await commit([quick.id]);
    enrich.wake();
    // The other matches wait for their second try for 10 s.
    await untilAll(quick.id, 'pending', 5_000);
  });

  test('waits out an outage of any length, and reports it', async () => {
    const { id } = await createStream();
    const commit = await startChain();
    await commit([id]);
    let asked = 0;
    let refusals = 0;
    let isDown = true;
    const enrich = start({
      ...goodState,
      call(block, calls) {
        asked++;
        if (isDown) throw new RetryableError('unavailable', 'node-1: connection refused');
        // A node that has recovered may lag, so its refusals are retried as usual.
        return (refusals++ < 3 ? refusing : goodState).call(block, calls);
      },
    });
    // During an outage, a match is tried more often than the six times allowed after refusals.
    await expect.poll(() => asked, { timeout: 10_000 }).toBeGreaterThan(8);
    expect(enrich.trouble).toBe(
      'token metadata, labels, reasons of failures, triggers and balances are waiting: node-1: connection refused',
    );
    isDown = false;
    await untilAll(id, 'pending');
    expect(await bodyOf(id)).toMatchObject(ENRICHED);
    expect(enrich.trouble).toBe('');
  });

  test('leaves permanently refused values as the contract defines unknown ones', async () => {
    const { id } = await createStream();
    const commit = await startChain();
    await commit([id]);
    start(refusing);
    await untilAll(id, 'pending');
    const body = await bodyOf(id);
    expect(body.nativeBalances).toEqual([]);
    expect(body.erc20Transfers[0]).toMatchObject({
      tokenName: '',
      tokenDecimals: '',
      triggers: [{ name: 'error', value: 'no node has the state of block 1' }],
    });
    expect(body.erc20Transfers[0]).not.toHaveProperty('valueWithDecimals');
  });

  test('reads tokens at the newest block if the state of an old one is gone', async () => {
    const { id } = await createStream();
    const commit = await startChain();
    await commit([id]);
    await commit([]);
    start({
      ...refusing,
      call: (block, calls) => (block.number === 1 ? refusing : goodState).call(block, calls),
      isGone: ({ number: height }) => height === 1,
    });
    await untilAll(id, 'pending');
    expect(await bodyOf(id)).toMatchObject({
      erc20Transfers: [
        {
          tokenName: 'Test Dollar',
          tokenSymbol: 'TDL',
          tokenDecimals: '6',
          valueWithDecimals: '1.5',
        },
      ],
      nativeBalances: [],
    });
  });

  test('retries a temporary refusal', async () => {
    const { id } = await createStream();
    const commit = await startChain();
    await commit([id]);
    let refusals = 0;
    start({
      ...goodState,
      call: (block, calls) => (refusals++ < 3 ? refusing : goodState).call(block, calls),
    });
    await untilAll(id, 'pending');
    expect(await bodyOf(id)).toMatchObject(ENRICHED);
  });

  test('retries a match whose time comes while the ledger is listing', async () => {
    const { id } = await createStream();
    const commit = await startChain();
    await commit([id]);
    vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
    // The third retry, after 20 ms, becomes due during the second listing after the refusal.
    let listingMs = 14;
    const slow: Store = {
      ...store,
      async listEnriching(query) {
        const found = await store.listEnriching(query);
        if (listingMs > 0) await new Promise((resolve) => setTimeout(resolve, listingMs));
        return found;
      },
    };
    const enrich = start(refusing, CHAIN, slow);
    let waitedMs = 0;
    // A missed retry waits for the next poll, 5 seconds later.
    while (waitedMs < 2_000 && (await deliveriesOf(id))[0]!.state === 'enriching') {
      await vi.advanceTimersByTimeAsync(1);
      waitedMs++;
    }
    listingMs = 0;
    await vi.advanceTimersByTimeAsync(20);
    await enrich.stop();
    vi.useRealTimers();
    expect(waitedMs).toBeLessThan(2_000);
  });

  test('reads a token once for many streams, later blocks and the next process', async () => {
    const streams = await Promise.all(Array.from({ length: 10 }, () => createStream()));
    const ids = streams.map(({ id }) => id);
    const commit = await startChain();
    await commit(ids);
    let names = 0;
    const counting: EnrichState = {
      ...goodState,
      call(block, calls) {
        names += calls.filter(({ data }) => data === '0x06fdde03').length;
        return goodState.call(block, calls);
      },
    };
    const first = start(counting);
    for (const id of ids) await untilAll(id, 'pending');
    expect(names).toBe(1);
    // A body that needs only a cached token is complete before it is committed.
    const tail = transferOf(TOKEN);
    expect(first.plan(DEFAULT_OPTIONS, tail)).toBe(null);
    expect(tail.erc20Transfers[0]).toMatchObject({ tokenName: 'Test Dollar', tokenDecimals: '6' });
    expect(first.plan(DEFAULT_OPTIONS, transferOf(HOLDER))).toBe(TOKENS_ONLY);
    await first.stop();
    await commit([ids[0]!]);
    start(counting);
    await untilAll(ids[0]!, 'pending');
    expect(names).toBe(1);
  });

  test('completes no match of a removed block until the block comes back', async () => {
    const { id } = await createStream();
    const commit = await startChain();
    await commit([id]);
    await store.rewindChain({ chain: CHAIN, epoch: EPOCH, ancestor: header(0) });
    const enrich = start(goodState);
    expect(await store.listEnriching(all())).toEqual([]);
    const { revision } = await store.readRules(Number.MAX_SAFE_INTEGER, 'evm');
    await store.commitBlock({
      chain: CHAIN,
      epoch: EPOCH,
      block: header(1),
      ruleRevision: revision,
      confirmUpTo: -1,
      windowBlocks: 256,
      matches: [],
    });
    enrich.wake();
    await untilAll(id, 'pending');
    expect(await bodyOf(id)).toMatchObject(ENRICHED);
  });
});

describe('a body', () => {
  const noStore = {
    readTokens: () => Promise.resolve([]),
    saveTokens: () => Promise.resolve(),
  } as unknown as Store;
  const streamWith = (options: Partial<StreamOptions>) => ({
    id: '',
    options: { ...DEFAULT_OPTIONS, ...options },
  });
  const complete = async (
    tail: BodyTail,
    options: Partial<StreamOptions>,
    state: EnrichState = goodState,
    maxWebhookBytes = DEFAULT_MAX_WEBHOOK_BYTES,
  ): Promise<BodyTail> => {
    const enrich = createEnrich({
      chain: CHAIN,
      store: noStore,
      state,
      log: createLog(() => {}),
      maxWebhookBytes,
    });
    await enrich.complete(header(1), streamWith(options), tail);
    return tail;
  };

  test('waits for labels only if it has a matched address', () => {
    const { plan } = createEnrich({
      chain: CHAIN,
      store: noStore,
      state: goodState,
      log: createLog(() => {}),
      maxWebhookBytes: DEFAULT_MAX_WEBHOOK_BYTES,
    });
    expect(plan(DEFAULT_OPTIONS, matchedOf(null, HOLDER))).toBe(TOKENS_ONLY);
    expect(plan(DEFAULT_OPTIONS, matchedOf(null))).toBeNull();
    expect(plan(DEFAULT_OPTIONS, { ...transferOf(TOKEN), erc20Transfers: [] })).toBeNull();
  });

  test('has labels of any length and number within the reserved size', async () => {
    for (const label of ['\u{1f600}'.repeat(64), '"'.repeat(64), '\\'.repeat(64)]) {
      const sizes: number[] = [];
      const { complete: completeIt, mostGrowth } = createEnrich({
        chain: CHAIN,
        store: {
          ...noStore,
          listLabels(_: string, addresses: readonly string[]) {
            sizes.push(addresses.length);
            return Promise.resolve(Object.fromEntries(addresses.map((each) => [each, label])));
          },
        },
        state: goodState,
        log: createLog(() => {}),
        maxWebhookBytes: DEFAULT_MAX_WEBHOOK_BYTES,
      });
      const addresses = Array.from({ length: 1_500 }, (_, n) => hash(n).slice(24));
      const tail = matchedOf(...addresses);
      const before = Buffer.byteLength(JSON.stringify(tail));
      const most = before + mostGrowth(DEFAULT_OPTIONS, tail);
      await completeIt(header(1), { id: 'stream', options: DEFAULT_OPTIONS }, tail);
      expect(tail.matched!.every((each) => each.label === label)).toBe(true);
      expect(Buffer.byteLength(JSON.stringify(tail))).toBeLessThanOrEqual(most);
      expect(sizes).toEqual([1_000, 500]);
    }
  });

  test('has triggers in order on the records of their kind, as the last field', async () => {
    const named = (name: string): StreamTrigger => ({
      ...balanceTrigger,
      functionAbi: { ...balanceTrigger.functionAbi, outputs: [{ name, type: 'uint256' }] },
    });
    const tail = transferOf(TOKEN);
    tail.txsInternal.push({
      from: HOLDER,
      to: null,
      value: '1',
      gas: '1',
      transactionHash: hash(1),
    });
    await complete(tail, {
      triggers: [named('first'), { ...named('other'), type: 'nfttransfer' }, named('')],
      getNativeBalances: [
        { type: 'internalTx', selectors: ['$to', '$from'] },
        { type: 'erc20transfer', selectors: ['$contract', '$to'] },
      ],
    });
    expect(Object.keys(tail.erc20Transfers[0]!).slice(-2)).toEqual([
      'valueWithDecimals',
      'triggers',
    ]);
    expect(tail.erc20Transfers[0]!.triggers).toEqual([
      { name: 'first', value: '42' },
      { name: 'output1', value: '42' },
    ]);
    expect(tail.txsInternal[0]).not.toHaveProperty('triggers');
    // Addresses are unique, in the order of the selections; a missing recipient is skipped.
    expect(tail.nativeBalances.map(({ address }) => address)).toEqual([HOLDER, TOKEN]);
  });

  test('makes equal calls only once, and at most 10,000 calls', async () => {
    const tail = transferOf(TOKEN);
    const [transfer] = tail.erc20Transfers;
    tail.erc20Transfers = Array.from({ length: 10_010 }, (_, n) => ({
      ...transfer!,
      from: `0x${(n < 5 ? 0 : n).toString(16).padStart(40, '0')}`,
    }));
    let made = 0;
    await complete(
      tail,
      { triggers: [balanceTrigger] },
      {
        ...goodState,
        call(block, calls) {
          made += calls.filter(({ data }) => data.startsWith('0x70a08231')).length;
          return goodState.call(block, calls);
        },
      },
    );
    expect(made).toBe(10_000);
    const errors = tail.erc20Transfers.filter(({ triggers }) => triggers![0]!.name === 'error');
    // 10,010 records result in 10,006 different calls.
    expect(errors).toHaveLength(6);
    expect(errors[0]!.triggers![0]!.value).toMatch(/^not called: .* exceed 10000 calls/);
  });

  test('omits balances beyond 10,000, and reports it in the log', async () => {
    const tail = transferOf(TOKEN);
    const [transfer] = tail.erc20Transfers;
    tail.erc20Transfers = Array.from({ length: 10_010 }, (_, n) => ({
      ...transfer!,
      from: `0x${n.toString(16).padStart(40, '0')}`,
    }));
    const lines: string[] = [];
    const enrich = createEnrich({
      chain: CHAIN,
      store: noStore,
      state: goodState,
      log: createLog((line) => lines.push(line), 'json'),
      maxWebhookBytes: DEFAULT_MAX_WEBHOOK_BYTES,
    });
    const getNativeBalances = [{ type: 'erc20transfer' as const, selectors: ['$from' as const] }];
    await enrich.complete(header(1), streamWith({ getNativeBalances }), tail);
    expect(tail.nativeBalances).toHaveLength(10_000);
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { level: 'warn', event: 'native balances omitted', chain: CHAIN, block: 1, balances: 10 },
    ]);
    tail.erc20Transfers.length = 10_000;
    await enrich.complete(header(1), streamWith({ getNativeBalances }), tail);
    expect(lines).toHaveLength(1);
  });

  test('omits results that would exceed the limit of a webhook', async () => {
    const tail = transferOf(TOKEN);
    const [transfer] = tail.erc20Transfers;
    tail.erc20Transfers = Array.from({ length: 200 }, () => ({ ...transfer! }));
    const big = text('x'.repeat(60_000));
    await complete(
      tail,
      {
        triggers: [
          {
            ...balanceTrigger,
            functionAbi: {
              ...balanceTrigger.functionAbi,
              outputs: [{ name: 'text', type: 'string' }],
            },
          },
        ],
      },
      {
        ...goodState,
        call: async (block, calls) =>
          (await goodState.call(block, calls)).map((answer, n) =>
            calls[n]!.data.startsWith('0x70a08231') ? read(big) : answer,
          ),
      },
    );
    expect(Buffer.byteLength(JSON.stringify(tail))).toBeLessThanOrEqual(DEFAULT_MAX_WEBHOOK_BYTES);
    expect(tail.erc20Transfers[0]!.triggers![0]!.name).toBe('text');
    expect(tail.erc20Transfers.at(-1)!.triggers).toEqual([
      { name: 'error', value: 'left out: the webhook would exceed its maximum size' },
    ]);
  });

  test('property: grows by no more than was reserved, whatever tokens and contracts return', async () => {
    const answer = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 400 }).map(text),
      fc.constantFrom('😀', '"', '\\\\', '\uffee').map((each) => text(each.repeat(200))),
      fc.bigInt({ min: 0n, max: 300n }).map(number),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(answer, { minLength: 1 }),
        fc.nat(3),
        fc.boolean(),
        async (answers, triggers, isOwn) => {
          const options: StreamOptions = {
            ...DEFAULT_OPTIONS,
            triggers: Array.from({ length: triggers }, () => ({
              ...balanceTrigger,
              functionAbi: {
                ...balanceTrigger.functionAbi,
                outputs: [{ name: 'said', type: 'string' }],
              },
            })),
            getNativeBalances: [{ type: 'erc20transfer', selectors: ['$from', '$contract'] }],
          };
          const tail = transferOf(TOKEN);
          tail.erc20Transfers[0]!.value = String(2n ** 256n - 1n);
          tail.erc20Transfers.push({ ...tail.erc20Transfers[0]!, contract: HOLDER });
          const before = Buffer.byteLength(JSON.stringify(tail));
          const enrich = createEnrich({
            chain: CHAIN,
            store: noStore,
            state: goodState,
            log: createLog(() => {}),
            maxWebhookBytes: 0,
          });
          const most = before + enrich.mostGrowth(options, tail);
          let asked = 0;
          const state: EnrichState = {
            ...goodState,
            call: (_, calls) =>
              Promise.resolve(calls.map(() => read(answers[asked++ % answers.length]!))),
            balances: (_, addresses) =>
              Promise.resolve(addresses.map(() => read(String(2n ** 256n - 1n)))),
          };
          // Sets the smallest limit at which the match is not split, for the service or for the
          // stream.
          if (isOwn) await complete(tail, { ...options, maxWebhookBytes: most }, state);
          else await complete(tail, options, state, most);
          expect(Buffer.byteLength(JSON.stringify(tail))).toBeLessThanOrEqual(most);
        },
      ),
    );
  });

  test('property: native balances of any records grow a body by no more than was reserved', async () => {
    const selectors = fc.subarray(['$from', '$to'] as const, { minLength: 1 });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 20 }), selectors, async (records, chosen) => {
        const tail = { ...transferOf(TOKEN), erc20Transfers: [] };
        const addressOf = (n: number): string => `0x${n.toString(16).padStart(40, '0')}`;
        tail.txsInternal = Array.from({ length: records }, (_, n) => ({
          from: addressOf(2 * n),
          to: addressOf(2 * n + 1),
          value: '1',
          gas: '1',
          transactionHash: hash(1),
        }));
        const options: StreamOptions = {
          ...DEFAULT_OPTIONS,
          getNativeBalances: [{ type: 'internalTx', selectors: chosen }],
        };
        const before = Buffer.byteLength(JSON.stringify(tail));
        const { mostGrowth } = createEnrich({
          chain: CHAIN,
          store: noStore,
          state: goodState,
          log: createLog(() => {}),
          maxWebhookBytes: DEFAULT_MAX_WEBHOOK_BYTES,
        });
        const growth = mostGrowth(options, tail);
        await complete(tail, options, {
          ...goodState,
          balances: (_, addresses) =>
            Promise.resolve(addresses.map(() => read(String(2n ** 256n - 1n)))),
        });
        expect(tail.nativeBalances).toHaveLength(records * chosen.length);
        expect(Buffer.byteLength(JSON.stringify(tail))).toBeLessThanOrEqual(before + growth);
      }),
    );
  });

  test('property: is a fixed point and verifies, whatever tokens and contracts return', async () => {
    const anyData = fc.oneof(
      fc.uint8Array({ maxLength: 100 }).map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`),
      fc.string({ unit: 'binary' }).map(text),
      fc
        .uint8Array({ minLength: 1, maxLength: 60 })
        .map((bytes) =>
          encodeAbiParameters([{ type: 'bytes' }], [`0x${Buffer.from(bytes).toString('hex')}`]),
        ),
      fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map(number),
    );
    const anyAnswer = fc.oneof(
      anyData.map(read),
      fc.string({ unit: 'binary' }).map((message): StateAnswer => ({ outcome: 'failed', message })),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyAnswer, { minLength: 5, maxLength: 5 }),
        anyAnswer,
        fc.constantFrom('string', 'uint256', 'bytes', 'string[]'),
        fc.string({ unit: 'binary' }),
        fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
        async (token, answer, type, name, value) => {
          const tail = transferOf(TOKEN);
          tail.erc20Transfers[0]!.value = value.toString();
          const functionAbi = { ...balanceTrigger.functionAbi, outputs: [{ name, type }] };
          await complete(
            tail,
            { ...WANTS_ALL, triggers: [{ ...balanceTrigger, functionAbi }] },
            {
              ...goodState,
              call: (_, calls) =>
                Promise.resolve(
                  calls.map(({ data }, n) => (data.startsWith('0x70a08231') ? answer : token[n]!)),
                ),
            },
          );
          const parts = splitBody({ chainId: CHAIN, abi: [], streamId: 'id', tag: 'tag' }, tail);
          for (const phase of ['unconfirmed', 'confirmed'] as const) {
            const body = joinBody({ ...parts, phase, retries: 3 });
            expect(JSON.stringify(JSON.parse(body))).toBe(body);
            const signature = signWebhook(body, 'secret');
            expect(
              verifySignature({ body: JSON.parse(body) as object, signature, secret: 'secret' }),
            ).toBe(true);
          }
        },
      ),
    );
  });
});
