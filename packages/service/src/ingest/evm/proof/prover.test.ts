/** Tests which chains require proofs, and what is read and rejected as a result. */
import { type RunningScriptedChain, scripted, startScriptedChain } from '@sluice/testkit';
import { test as base, describe, expect } from 'vitest';
import { createLog } from '../../../base/log.ts';
import type { Source } from '../../source.ts';
import { createEvmSource, type EvmSourceOptions } from '../evm.ts';
import type { VerdictStore } from './prover.ts';

const LOGS = { logs: true, transactions: false, traces: false };
const ALL = { ...LOGS, transactions: true };
const TOKEN = `0x${'70'.repeat(20)}` as const;
const ETHEREUM = '0x1';
const OTHER = '0x7a69';

interface World {
  start(chainId?: number): Promise<RunningScriptedChain>;
  /** Starts another node of the same chain. */
  join(chain: RunningScriptedChain): Promise<RunningScriptedChain>;
  open(nodes: readonly RunningScriptedChain[], options?: Partial<EvmSourceOptions>): Source;
}

const test = base.extend<{ world: World }>({
  // oxlint-disable-next-line no-empty-pattern
  world: async ({}, use) => {
    const closing: (() => Promise<void>)[] = [];
    const keep = (node: RunningScriptedChain) => (closing.push(() => node.stop()), node);
    await use({
      start: async (chainId = 31337) => keep(await startScriptedChain({ chainId })),
      join: async (chain) => keep(await startScriptedChain({ chain })),
      open(nodes, options) {
        const source = createEvmSource({
          ...{ chain: OTHER, urls: nodes.map(({ url }) => url), pollMs: 1_000 },
          log: createLog(() => {}),
          ...options,
        });
        closing.push(() => source.stop());
        return source;
      },
    });
    for (const close of closing.toReversed()) await close();
  },
});

/**
 * Creates a block with two equal logs. If one is missing, the other still sets every bit of the
 * blooms.
 */
const twins = () => {
  const log = { address: TOKEN, topics: [`0x${'fa'.repeat(32)}`] as const };
  const to = `0x${'bb'.repeat(20)}` as const;
  return {
    transactions: [{ to, logs: [log, log] }, scripted.transfer({ from: to, to, value: 1n })],
  };
};

const readHead = async (source: Source, needs = LOGS) =>
  source.readBlock(await source.readHead(), needs);

/** Creates a ledger with this genesis hash, and with settings in memory. */
function createLedger(genesisHash: string): VerdictStore & { settings: Map<string, string> } {
  const settings = new Map<string, string>();
  return {
    settings,
    readCheckpoint: () => Promise.resolve({ number: 0, hash: genesisHash, genesisHash }),
    readSetting: (key) => Promise.resolve(settings.get(key)),
    saveSetting: (key, value) => Promise.resolve(void settings.set(key, value)),
  };
}

describe('on Ethereum', () => {
  test('a missing last log is detected, even if only logs are needed', async ({ world }) => {
    const chain = await world.start(1);
    chain.mine(twins());
    const source = world.open([chain], { chain: ETHEREUM });
    expect((await readHead(source)).logs).toHaveLength(2);
    expect(source.proof!()).toEqual({ isProven: true, reason: '' });
    chain.trouble({ kind: 'missingLog' });
    await expect(readHead(source)).rejects.toThrow(
      /not proven: the receipts do not match the receipts root/,
    );
  });

  test('a block takes two requests, and none of them for logs', async ({ world }) => {
    const chain = await world.start(1);
    const header = chain.mine(twins());
    const source = world.open([chain], { chain: ETHEREUM });
    const at = await source.readHead();
    const before = { ...chain.calls };
    const block = await source.readBlock(at, LOGS);
    expect(block).toMatchObject({ hash: header.hash, transactions: [] });
    const made = Object.entries(chain.calls).map(([name, n]) => [name, n - (before[name] ?? 0)]);
    expect(Object.fromEntries(made.filter(([, n]) => n !== 0))).toEqual({
      eth_getBlockByHash: 1,
      eth_getBlockReceipts: 1,
    });
  });

  test('blocks of a node that returns receipts one by one are also proven', async ({ world }) => {
    const chain = await world.start(1);
    chain.mine(twins());
    chain.trouble({ kind: 'error', code: -32601, methods: ['eth_getBlockReceipts'] });
    const source = world.open([chain], { chain: ETHEREUM });
    expect((await readHead(source)).logs).toHaveLength(2);
    expect(chain.calls['eth_getTransactionReceipt']).toBe(2);
    expect(chain.calls['eth_getLogs']).toBeUndefined();
  });

  test('proof=off reads logs alone, as on a chain that cannot be proven', async ({ world }) => {
    const chain = await world.start(1);
    chain.mine(twins());
    const source = world.open([chain], { chain: ETHEREUM, proof: 'off' });
    expect((await readHead(source)).logs).toHaveLength(2);
    expect(chain.calls['eth_getBlockReceipts']).toBeUndefined();
    expect(source.proof!()).toEqual({ isProven: false, reason: 'proof=off' });
  });
});

describe('on another chain', () => {
  const BLOCKS = 16;
  /** Reads every block after block 0, as for a stream that needs only logs. */
  const readAll = async (source: Source, chain: RunningScriptedChain) => {
    for (const { number } of chain.canonical().slice(1)) {
      await source.readBlock((await source.readHeader(Number(number)))!, LOGS);
    }
  };

  test('two nodes that agree determine a verdict, which is stored and permanent', async ({
    world,
  }) => {
    const chain = await world.start();
    const other = await world.join(chain);
    const verdicts = createLedger(chain.blockAt(0n)!.hash);
    for (let n = 0; n < BLOCKS; n++) chain.mine(twins());
    const source = world.open([chain, other], { verdicts });
    await readAll(source, chain);
    expect(source.proof!()).toEqual({ isProven: true, reason: '' });
    expect([...verdicts.settings.values()]).toEqual([chain.blockAt(0n)!.hash]);

    // Simulates a restart with a single node.
    const again = world.open([chain], { verdicts });
    expect((await readHead(again)).logs).toHaveLength(2);
    chain.trouble({ kind: 'missingLog' });
    await expect(readHead(again)).rejects.toThrow();
    expect(again.proof!()).toEqual({ isProven: true, reason: '' });

    const replaced = world.open([chain], { verdicts: createLedger(`0x${'12'.repeat(32)}`) });
    await readHead(replaced).catch(() => undefined);
    expect(replaced.proof!().isProven).toBe(false);
  });

  test('a single node determines no verdict, and blocks are read as before', async ({ world }) => {
    const chain = await world.start();
    const verdicts = createLedger(chain.blockAt(0n)!.hash);
    for (let n = 0; n < BLOCKS; n++) chain.mine(twins());
    const source = world.open([chain], { verdicts });
    await readAll(source, chain);
    expect(source.proof!()).toEqual({
      isProven: false,
      reason: expect.stringMatching(/single node.*proof=on/),
    });
    expect(chain.calls['eth_getBlockReceipts']).toBeUndefined();
  });

  test('the operator can require proofs from a single node', async ({ world }) => {
    const chain = await world.start();
    chain.mine(twins());
    const source = world.open([chain], { proof: 'on' });
    expect((await readHead(source, ALL)).transactions).toHaveLength(2);
    expect(source.proof!()).toEqual({ isProven: true, reason: '' });
    chain.trouble({ kind: 'missingLog' });
    await expect(readHead(source)).rejects.toThrow();
  });

  test('blocks that cannot be proven determine no verdict that requires proofs', async ({
    world,
  }) => {
    const chain = await world.start();
    const other = await world.join(chain);
    for (let n = 0; n < BLOCKS; n++) chain.mine(twins());
    const verdicts = createLedger(chain.blockAt(0n)!.hash);
    chain.trouble({ kind: 'gappedIndices', by: 2, methods: ['eth_getBlockReceipts'] });
    other.trouble({ kind: 'gappedIndices', by: 2, methods: ['eth_getBlockReceipts'] });
    const source = world.open([chain, other], { verdicts });
    await readAll(source, chain);
    expect(source.proof!()).toMatchObject({ isProven: false });
    expect(verdicts.settings.size).toBe(0);
  });
});
