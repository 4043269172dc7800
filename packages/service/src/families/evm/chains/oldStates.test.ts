import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningScriptedChain, startScriptedChain } from '@sluice/testkit';
import { DEFAULT_MAX_WEBHOOK_BYTES } from '@sluice/kit/contract';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createLog } from '../../../base/log.ts';
import { type EvmEnrich, createEnrich } from '../enrich/enrich.ts';
import { TOKENS_ONLY } from '../enrich/plan.ts';
import { createEvmSource } from '../ingest/evm.ts';
import { createStateReader } from '../ingest/state.ts';
import type { EvmSource } from '../ingest/source.ts';
import { splitBody } from '../../../store/blocks/body.ts';
import type { BlockHeader } from '../../../store/blocks/contract.ts';
import { newMatch } from '../../../../test/store/newMatch.ts';
import { takeChain } from '../../../../test/store/takeChain.ts';
import { openSqliteStore } from '../../../store/engine/sqlite/sqlite.ts';
import type { Store } from '../../../store/store.ts';
import { DEFAULT_DELIVERY, DEFAULT_OPTIONS } from '../../../store/streams/contract.ts';
import { plain } from '../../../../test/store/plain.ts';

const CHAIN = '0x7a69';
const MATCHES = 300;
const STATE_METHODS = ['eth_call', 'eth_getCode', 'eth_getBalance'];

let folder: string;
let store: Store;
let chain: RunningScriptedChain;
let source: EvmSource;
let enrich: EvmEnrich;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-old-states-'));
  store = await openSqliteStore(folder);
  chain = await startScriptedChain();
  chain.mineMany(MATCHES + 200);
  const log = createLog(() => {});
  source = createEvmSource({ chain: CHAIN, urls: [chain.url], pollMs: 1_000, log });
  enrich = createEnrich({
    chain: CHAIN,
    store,
    log,
    maxWebhookBytes: DEFAULT_MAX_WEBHOOK_BYTES,
    state: createStateReader(source, { goneAfterMs: 2_000 }),
    retryMs: 300,
  });
});
afterEach(async () => {
  await source.stop();
  await enrich.stop();
  await store.close();
  await chain.stop();
  rmSync(folder, { recursive: true });
});

const headerOf = (number: number): BlockHeader => {
  const block = chain.blockAt(BigInt(number))!;
  return { ...block, number, timestamp: Number(block.timestamp) };
};

/**
 * Commits `MATCHES` blocks with one match each, all with different tokens, and starts to enrich
 * them.
 */
async function commitMatches(streamId: string): Promise<void> {
  const epoch = await takeChain(store, CHAIN);
  await store.startChain({ chain: CHAIN, epoch, block: headerOf(0), genesisHash: '0x' });
  const { revision } = await store.readRules(Number.MAX_SAFE_INTEGER, 'evm');
  for (let number = 1; number <= MATCHES; number++) {
    const contract = `0x${number.toString(16).padStart(40, '0')}`;
    const [hash, holder] = [`0x${'77'.repeat(32)}`, `0x${'01'.repeat(20)}`];
    const tail = {
      block: { number: String(number), hash: headerOf(number).hash, timestamp: '1700000001' },
      logs: [],
      txs: [],
      txsInternal: [],
      erc20Approvals: [],
      nftTokenApprovals: [],
      erc20Transfers: [
        {
          transactionHash: hash,
          logIndex: '0',
          contract,
          from: holder,
          to: holder,
          value: '1',
          tokenName: '',
          tokenSymbol: '',
          tokenDecimals: '',
          possibleSpam: false,
        },
      ],
      nftApprovals: { ERC721: [], ERC1155: [] },
      nftTransfers: [],
      nativeBalances: [],
    };
    const body = splitBody({ chainId: CHAIN, abi: [], streamId, tag: '' }, tail);
    await store.commitBlock({
      chain: CHAIN,
      epoch,
      block: headerOf(number),
      ruleRevision: revision,
      confirmUpTo: -1,
      windowBlocks: 256,
      matches: [newMatch(streamId, { enrichment: TOKENS_ONLY, ...body })],
    });
  }
  enrich.start(epoch);
}

test('states that no node keeps are requested a few times, and then once for each block', async () => {
  const message = 'missing trie node 5c61d5a (path )';
  chain.trouble({ kind: 'error', message, methods: STATE_METHODS });
  await source.readHead();
  const { id: streamId } = await store.createStream(
    plain({
      family: 'evm',
      tag: '',
      description: '',
      webhookUrl: 'http://127.0.0.1:1/',
      chainIds: [CHAIN],
      options: DEFAULT_OPTIONS,
      ...DEFAULT_DELIVERY,
    }),
  );
  await commitMatches(streamId);
  const isWaiting = async (): Promise<boolean> => {
    const { rows } = await store.listDeliveries({ limit: 1, streamId, state: 'enriching' });
    return rows.length > 0;
  };
  await expect.poll(isWaiting, { timeout: 100_000 }).toBe(false);
  const calls = STATE_METHODS.reduce((sum, method) => sum + (chain.calls[method] ?? 0), 0);
  expect(calls).toBeGreaterThanOrEqual(MATCHES);
  expect(calls).toBeLessThan(MATCHES * 3);
  const [node] = source.providers();
  expect(node!.failures).toBe(0);
}, 120_000);
