/**
 * Tests a process with a wrong clock: `Date.now` is shifted, while PostgreSQL has the correct time.
 */
import { type Postgres, type WebhookSink, startPostgres, startWebhookSink } from '@sluice/testkit';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { createLog } from '../base/log.ts';
import { newMatch } from '../../test/store/newMatch.ts';
import { openPostgresStore } from '../store/engine/postgres/postgres.ts';
import { DEFAULT_DELIVERY, DEFAULT_OPTIONS } from '../store/streams/contract.ts';
import { takeChain } from '../../test/store/takeChain.ts';
import { createDeliverer } from './deliver.ts';
import { ALL_NETWORKS, createAddressGuard } from './destinations/http/guard.ts';
import { createHostPace } from './hostPace.ts';
import { createIsolation } from './send/isolation.ts';
import { createHttpSender } from './send/httpSender.test-only.ts';
import { plain } from '../../test/store/plain.ts';

const HOUR_MS = 3_600_000;

let postgres: Postgres;
let sink: WebhookSink;

beforeAll(async () => {
  postgres = await startPostgres();
  sink = await startWebhookSink();
});
afterEach(() => {
  vi.restoreAllMocks();
  sink.clear();
});
afterAll(async () => {
  await sink.close();
  await postgres.stop();
  // The ids of this process stay an hour ahead, and later files share its modules.
  vi.resetModules();
});

test.each([1, -1])(
  'the deliverer retries in time, keeps its leases and signs the true time with its clock %i h off',
  async (hours) => {
    const trueNow = Date.now.bind(Date);
    vi.spyOn(Date, 'now').mockImplementation(() => trueNow() + hours * HOUR_MS);
    const store = await openPostgresStore(postgres.url);
    let lostLeases = 0;
    const signing = { secret: () => 'secret', region: () => 'us-east-1' };
    const deliver = createDeliverer({
      store,
      sender: createHttpSender({
        guard: createAddressGuard({ allowCidrs: ALL_NETWORKS }),
        ...signing,
      }),
      isolation: createIsolation({ allowCidrs: ALL_NETWORKS, ...signing }),
      log: createLog(() => {}),
      schedule: [1_500, 200, 200],
      onAttempts: () => {},
      onLostLeases: (count) => (lostLeases += count),
      onLostOutcomes: () => {},
      onLocalFailure: () => {},
      hostPace: createHostPace(undefined, () => undefined),
      openEndpoint: (delivery) => delivery,
      openSecrets: () => [],
    });
    const dueAt = Math.ceil(trueNow() / 1_000) * 1_000 + 4_000;
    const retryAfter = new Date(dueAt).toUTCString();
    sink.respond([500, { status: 429, headers: { 'retry-after': retryAfter } }, 200]);
    const chain = hours > 0 ? '0xc10c1' : '0xc10c2';
    const header = (number: number) => ({
      number,
      hash: `${chain}-${number}`,
      parentHash: `${chain}-${number - 1}`,
      timestamp: number,
    });
    const stream = await store.createStream(
      plain({
        family: 'evm',
        tag: 'clock',
        description: '',
        webhookUrl: `${sink.url}/clock`,
        chainIds: [chain],
        options: { ...DEFAULT_OPTIONS, includeNativeTxs: true },
        ...DEFAULT_DELIVERY,
      }),
    );
    const epoch = await takeChain(store, chain);
    await store.startChain({ chain, epoch, block: header(0), genesisHash: 'genesis' });
    const { revision } = await store.readRules(Number.MAX_SAFE_INTEGER, 'evm');
    await store.commitBlock({
      chain,
      epoch,
      block: header(1),
      ruleRevision: revision,
      confirmUpTo: 0,
      windowBlocks: 256,
      matches: [newMatch(stream.id)],
    });
    await deliver.start();
    await sink.waitFor(3, { timeoutMs: 15_000 });
    await deliver.stop(5_000);
    await store.close();

    const [first, second, third] = sink.requests;
    expect(second!.receivedAt - first!.receivedAt).toBeGreaterThanOrEqual(1_500);
    expect(third!.receivedAt - hours * HOUR_MS).toBeGreaterThanOrEqual(dueAt);
    for (const request of sink.requests) {
      const signedAt = Number(request.headers['webhook-timestamp']) * 1000;
      const receivedAt = request.receivedAt - hours * HOUR_MS;
      // The header is in whole seconds.
      expect(Math.abs(signedAt - receivedAt)).toBeLessThan(2_000);
    }
    expect(lostLeases).toBe(0);
  },
);
