/** Tests ingestion from three nodes, two of which may fail, lag or lie. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type RunningScriptedChain,
  type ScriptedBlock,
  type Trouble,
  createScriptedChain,
  scripted,
  startScriptedChain,
} from '@sluice/testkit';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import type { EvmBlock } from '../../families/evm/match/block.ts';
import { NO_MATCHES } from '../noMatches.test-only.ts';
import { createLog } from '../../base/log.ts';
import { openSqliteStore } from '../../store/engine/sqlite/sqlite.ts';
import { takeChain } from '../../../test/store/takeChain.ts';
import { createEvmSource } from '../../families/evm/ingest/evm.ts';
import { createIngest } from '../ingest.ts';

const CHAIN = '0x7a69';
const root = mkdtempSync(join(tmpdir(), 'sluice-nodes-'));
let folders = 0;
afterAll(() => rmSync(root, { recursive: true }));

type Step = 'mine' | 'fork' | 'wait';

const BLOCKS = ['eth_getBlockByHash', 'eth_getBlockByNumber'];
const trouble: fc.Arbitrary<Trouble> = fc
  .record({
    kind: fc.constantFrom<Trouble>(
      { kind: 'error' },
      { kind: 'httpError', status: 502 },
      { kind: 'malformedJson' },
      { kind: 'rateLimit', retryAfterSeconds: 1 },
      { kind: 'delay', delayMs: 30 },
      { kind: 'lag', blocks: 3, methods: [...BLOCKS, 'eth_getLogs', 'eth_getBlockReceipts'] },
      { kind: 'withhold' },
      { kind: 'nullReceipts' },
      { kind: 'truncatedReceipts' },
      { kind: 'missingLog' },
      { kind: 'missingFirstLog' },
      { kind: 'foreignLogs' },
      { kind: 'wrongParentHash' },
      { kind: 'wrongHash' },
      { kind: 'wrongChainId', chainId: 5 },
    ),
    every: fc.integer({ min: 1, max: 3 }),
  })
  .map(({ kind, every }) => ({ ...kind, every }));

const script = fc.array(fc.constantFrom<Step>('mine', 'mine', 'mine', 'fork', 'wait'), {
  minLength: 6,
  maxLength: 16,
});

/**
 * Puts two logs in one transaction, so that one can be missing. Their topics differ, because
 * otherwise the bloom would not reveal a missing log.
 */
const someLogs = () => {
  const token = `0x${'b'.repeat(40)}` as const;
  const from = `0x${'c'.repeat(40)}` as const;
  const [one, two] = (['a', 'd'] as const).map((to) =>
    scripted.erc20Transfer({ token, from, to: `0x${to.repeat(40)}`, value: 1n }),
  );
  return { transactions: [{ ...one!, logs: [...one!.logs, ...two!.logs] }] };
};

const isTrue = (read: EvmBlock, mined: ScriptedBlock): boolean =>
  read.parentHash === mined.parentHash &&
  read.number === Number(mined.number) &&
  read.transactions.map(({ hash }) => hash).join() ===
    mined.transactions.map(({ hash }) => hash).join() &&
  read.logs.flatMap(({ topics }) => topics).join() ===
    mined.transactions.flatMap(({ logs }) => logs.flatMap(({ topics }) => topics)).join();

test('property: with two of three nodes in any trouble, only the honest blocks are committed', async () => {
  await fc.assert(
    fc.asyncProperty(
      script,
      fc.tuple(fc.array(trouble, { maxLength: 3 }), fc.array(trouble, { maxLength: 3 })),
      fc.shuffledSubarray([0, 1, 2], { minLength: 3 }),
      async (steps, [troublesOfOne, troublesOfTwo], order) => {
        const honest = createScriptedChain();
        const nodes: RunningScriptedChain[] = [];
        for (let n = 0; n < 3; n++) nodes.push(await startScriptedChain({ chain: honest }));
        const store = await openSqliteStore(join(root, String(++folders)));
        const log: string[] = [];
        const logger = createLog((line) => log.push(line));
        const source = createEvmSource({
          chain: CHAIN,
          urls: order.map((n) => nodes[n]!.url),
          pollMs: 20,
          log: logger,
        });
        const read: EvmBlock[] = [];
        const ingest = createIngest<EvmBlock>(
          { chain: CHAIN, flag: '--chain', confirmations: 2, epoch: await takeChain(store, CHAIN) },
          {
            source,
            store,
            log: logger,
            matcher: {
              refresh: async () => (await store.readRules(0, 'evm')).revision,
              needs: () => ({ logs: true, transactions: true, traces: false }),
              ...NO_MATCHES,
              match(_, block) {
                read.push(block);
                return { matches: [], children: [] };
              },
            },
            listener: {
              onBlock() {},
              onReorg() {},
              onReport() {},
              onLostLease() {},
            },
          },
        );
        /** Returns whether the checkpoint reaches the honest head within this time. */
        const arrives = async (timeoutMs: number): Promise<boolean> => {
          const deadline = Date.now() + timeoutMs;
          for (;;) {
            if ((await store.readCheckpoint(CHAIN))?.hash === honest.head.hash) return true;
            if (Date.now() > deadline) return false;
            await new Promise((resolve) => setTimeout(resolve, 5));
          }
        };
        try {
          ingest.start();
          expect(await arrives(10_000)).toBe(true);
          for (const each of troublesOfOne) nodes[0]!.trouble(each);
          for (const each of troublesOfTwo) nodes[1]!.trouble(each);
          for (const step of steps) {
            if (step === 'mine') honest.mine(someLogs());
            else if (step === 'wait') await arrives(200);
            else if (honest.head.number > 3n) {
              honest.fork({ depth: 2, blocks: [someLogs(), {}, someLogs()] });
            }
          }
          honest.mine(someLogs());
          const isThere = await arrives(20_000);
          expect(isThere ? '' : `${ingest.report().message}\n${log.join('')}`).toBe('');
          // Every matched block was mined on the honest chain and is complete.
          const isWrong = (block: EvmBlock): boolean => {
            const mined = honest.blockOf(block.hash as `0x${string}`);
            return mined === undefined || !isTrue(block, mined);
          };
          expect(read.filter(isWrong).map(({ number, hash }) => `${number} ${hash}`)).toEqual([]);
          const window = await store.readWindow(CHAIN, 256);
          const expected = honest
            .canonical()
            .toReversed()
            .map(({ hash }) => hash);
          expect(window.map(({ hash }) => hash)).toEqual(expected);
        } finally {
          await ingest.stop();
          await source.stop();
          await store.close();
          await Promise.all(nodes.map((node) => node.stop()));
        }
      },
    ),
    {
      numRuns: 12,
      examples: [
        // The first node returns headers with a wrong parent, and no blocks by hash.
        [
          ['mine', 'mine', 'mine', 'mine', 'mine', 'mine'],
          [
            [],
            [
              { kind: 'wrongParentHash', every: 1 },
              { kind: 'withhold', every: 1 },
            ],
          ],
          [1, 0, 2],
        ],
        // The first node sometimes returns a wrong parent for a block that is read ahead.
        [
          ['mine', 'mine', 'wait', 'mine', 'mine', 'mine', 'mine', 'mine'],
          [
            [],
            [
              { kind: 'wrongParentHash', every: 2 },
              { kind: 'delay', delayMs: 30, every: 2 },
            ],
          ],
          [1, 0, 2],
        ],
      ],
    },
  );
}, 240_000);
