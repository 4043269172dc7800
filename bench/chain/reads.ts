/**
 * Measures what the values that streams read cost per block: requests to a scripted node with
 * Multicall3, and time with SQLite.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeAbiParameters, numberToHex } from 'viem';
import { createLog } from '../../packages/service/src/base/log.ts';
import { createEvmMatching } from '../../packages/service/src/families/evm/chains/matching.ts';
import { createReadState } from '../../packages/service/src/families/evm/chains/reads/readState.ts';
import { createStreamValues } from '../../packages/service/src/families/evm/chains/reads/streamValues.ts';
import { listWatched } from '../../packages/service/src/families/evm/chains/reads/watchedAddresses.ts';
import { createStateReader } from '../../packages/service/src/families/evm/ingest/state.ts';
import { createValueReading } from '../../packages/service/src/ingest/values/reading.ts';
import { packAddresses } from '../../packages/service/src/store/addresses/packedAddresses.ts';
import { openSqliteStore } from '../../packages/service/src/store/engine/sqlite/sqlite.ts';
import type { Store } from '../../packages/service/src/store/store.ts';
import {
  DEFAULT_DELIVERY,
  DEFAULT_OPTIONS,
  type EvmStreamDraft,
  type Sealed,
} from '../../packages/service/src/store/streams/contract.ts';
import { type Figures, toFigure } from '../figures.ts';

const CHAIN = '0x2105';
const BLOCKS = 20;
const WINDOW_BLOCKS = 64;
/** One of so many requests has other values than in the block before. */
const CHANGES = 100;

export const measureReads = async (): Promise<Figures> => ({
  ...(await measure('no values', 0, 'of')),
  ...(await measure('1 stream × 1,000 values', 1, 'of')),
  ...(await measure('100 streams × 1,000 values', 100, 'of')),
  ...(await measure('100 streams × 1,000 addresses', 100, 'addresses')),
});

const addressOf = (n: number): string => `0x${n.toString(16).padStart(40, '0')}`;
const ACCOUNTS = Array.from({ length: 1_000 }, (_, n) => addressOf(n + 1));

/** @param listed where the accounts are listed: in the entry, or as the addresses of the stream */
async function measure(
  name: string,
  streams: number,
  listed: 'of' | 'addresses',
): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-reads-'));
  const store = await openSqliteStore(folder);
  try {
    const epoch = (await store.takeLease({ name: CHAIN, holder: 'a bench', forMs: 3_600_000 }))!;
    const genesis = headerOf(0);
    await store.startChain({ chain: CHAIN, epoch, block: genesis, genesisHash: genesis.hash });
    for (let n = 0; n < streams; n++) {
      const { id } = await store.createStream({
        family: 'evm',
        tag: '',
        description: '',
        webhookUrl: 'http://127.0.0.1:1/',
        chainIds: [CHAIN],
        options: {
          ...DEFAULT_OPTIONS,
          reads: [
            {
              balance: 'native',
              ...(listed === 'of' && { of: ACCOUNTS }),
              when: { below: '0.000000000000001' },
            },
          ],
        },
        ...DEFAULT_DELIVERY,
      } as unknown as Sealed<EvmStreamDraft>);
      if (listed === 'of') continue;
      const part = {
        kind: 'add',
        addresses: packAddresses(ACCOUNTS, 20),
        labels: {},
        clearLabels: false,
        keyId: '',
      } as const;
      await store.changeAddresses([{ streamId: id, parts: [part] }]);
    }
    const node = createNode();
    const world = createWorld(store, epoch, node);
    // The first block has the first values.
    await world.mine(1);
    world.start();
    await world.untilRead();
    node.takeRequests();
    const startedMs = performance.now();
    for (let block = 2; block <= BLOCKS; block++) await world.mine(block);
    await world.untilRead();
    const readMs = performance.now();
    await world.stop();
    const perBlock = (total: number): number => total / (BLOCKS - 1);
    return {
      [`${name}, requests`]: toFigure(
        perBlock(node.takeRequests()),
        '',
        'additional requests per block; goal 2',
      ),
      [`${name}, time`]: toFigure(
        perBlock(readMs - startedMs),
        'ms',
        'per block: its commit, and the reading of its state',
      ),
    };
  } finally {
    await store.close();
    rmSync(folder, { recursive: true });
  }
}

const headerOf = (number: number) => ({
  number,
  hash: numberToHex(number, { size: 32 }),
  parentHash: number === 0 ? '' : numberToHex(number - 1, { size: 32 }),
  timestamp: 1_700_000_000 + 2 * number,
});

/** Creates a node that responds to batches, whose calls all return the same value. */
function createNode() {
  let requests = 0;
  const answers = new Map<string, string>();
  return {
    takeRequests(): number {
      const taken = requests;
      requests = 0;
      return taken;
    },
    requestAt({ number }: { number: number }, method: string, [call]: readonly unknown[]) {
      requests++;
      if (method === 'eth_getCode') return Promise.resolve('0x01');
      const { data } = call as { data: string };
      // The number of calls follows the selector and the offset of the list.
      const count = Number(`0x${data.slice(74, 138)}`);
      const isChanged = (number + requests) % CHANGES === 0;
      const key = `${count} ${isChanged}`;
      const answer = answers.get(key) ?? encodeResults(count, isChanged ? 2_001n : 2_000n);
      answers.set(key, answer);
      return Promise.resolve(answer);
    },
  };
}

const encodeResults = (count: number, value: bigint): string =>
  encodeAbiParameters(
    [
      {
        type: 'tuple[]',
        components: [
          { name: 'success', type: 'bool' },
          { name: 'returnData', type: 'bytes' },
        ],
      },
    ],
    [
      Array.from({ length: count }, () => ({
        success: true,
        returnData: numberToHex(value, { size: 32 }),
      })),
    ],
  );

function createWorld(store: Store, epoch: number, node: ReturnType<typeof createNode>) {
  const log = createLog((line) => process.stderr.write(line));
  const { values } = createEvmMatching({
    store,
    enrichOf: () => undefined as never,
    spamLists: {},
    omitRecentFields: false,
    maxWebhookBytes: 1e6,
  });
  const reading = createValueReading({
    chain: CHAIN,
    epoch,
    store,
    matcher: values,
    readState: createReadState({
      state: createStateReader({ providers: () => [], requestAt: node.requestAt }),
      values: createStreamValues({
        readToken: () => Promise.resolve(undefined),
        addressesOf: (record, limits) => listWatched(store, CHAIN, record, limits),
      }),
    }),
    confirmedHeights: () => undefined,
    log,
  });
  return {
    async mine(number: number): Promise<void> {
      const { revision } = await store.readRules(Number.MAX_SAFE_INTEGER, 'evm');
      await store.commitBlock({
        chain: CHAIN,
        epoch,
        block: headerOf(number),
        ruleRevision: revision,
        confirmUpTo: -1,
        windowBlocks: WINDOW_BLOCKS,
        matches: [],
        readsState: true,
      });
    },
    start: () => reading.start(),
    stop: () => reading.stop(),
    async untilRead(): Promise<void> {
      reading.wake();
      while ((await store.nextState(CHAIN)) !== undefined) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
  };
}
