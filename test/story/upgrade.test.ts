/**
 * Tests an upgrade without downtime: the previous release and this version share one PostgreSQL,
 * and every matching block is delivered once per phase.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@sluice/kit';
import {
  type Postgres,
  type RunningScriptedChain,
  type WebhookSink,
  scripted,
  startPostgres,
  startScriptedChain,
  startWebhookSink,
  until,
} from '@sluice/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PreviousRelease, extractPreviousRelease } from '../previousRelease.ts';
import { API_KEY, type Served, serve } from '../serve.ts';

const CHAIN = '0x7a69';
const WATCHED = '0x00000000000000000000000000000000000000aa';
const SENDER = '0x00000000000000000000000000000000000000cc';

/** Data folder with the master key, which all processes share. */
const folder = mkdtempSync(join(tmpdir(), 'sluice-upgrade-'));
let release: PreviousRelease;
let postgres: Postgres;
let sink: WebhookSink;
let chain: RunningScriptedChain;
const started: Served[] = [];

async function start(version: 'previous' | 'this'): Promise<Served> {
  const args = [
    ...['--database-url', postgres.url, '--data', folder],
    ...['--chain', `${CHAIN}=${chain.url},confirmations=2,poll=50`],
  ];
  const options =
    version === 'this' ? {} : { nodeFlags: ['-C', '@sluice/source'], packedMain: release.main };
  const served = await serve(args, options);
  started.push(served);
  return served;
}

beforeAll(async () => {
  release = extractPreviousRelease();
  [postgres, sink, chain] = await Promise.all([
    startPostgres(),
    startWebhookSink(),
    startScriptedChain(),
  ]);
});
afterAll(async () => {
  await Promise.all(started.filter((each) => each.isRunning()).map((each) => each.kill()));
  await Promise.all([postgres?.stop(), sink?.close(), chain?.stop()]);
  release?.remove();
  rmSync(folder, { recursive: true });
});

const clientOf = ({ url }: Served) => createClient({ apiKey: API_KEY, baseUrl: url });

async function createStream(served: Served, tag: string): Promise<string> {
  const { streams } = clientOf(served);
  const { id } = await streams.create({
    webhookUrl: `${sink.url}/${tag}`,
    description: '',
    tag,
    chainIds: [CHAIN],
    includeNativeTxs: true,
  });
  await streams.addAddress(id, WATCHED);
  return id;
}

/** Mines blocks with a transfer each, and waits until all of them are delivered unconfirmed. */
async function mine(count: number, streamIds: readonly string[]): Promise<string[]> {
  const hashes: string[] = [];
  for (let n = 0; n < count; n++) {
    const { hash } = chain.mine({
      transactions: [scripted.transfer({ from: SENDER, to: WATCHED, value: 1n })],
    });
    hashes.push(hash);
    // Spreads the blocks over several polls and claims, so that both processes deliver.
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await until('the blocks are delivered', () => haveArrived(streamIds, hashes, false), 60_000);
  return hashes;
}

/** Returns the webhook IDs by stream, block and phase. */
function received(): Map<string, Set<string>> {
  const ids = new Map<string, Set<string>>();
  for (const { headers, body } of sink.requests) {
    const { streamId, block, confirmed } = JSON.parse(body) as {
      streamId: string;
      block: { hash: string };
      confirmed: boolean;
    };
    const key = keyOf(streamId, block.hash, confirmed);
    ids.set(key, (ids.get(key) ?? new Set()).add(String(headers['webhook-id'])));
  }
  return ids;
}
const keyOf = (streamId: string, hash: string, confirmed: boolean): string =>
  `${streamId} ${hash} ${confirmed}`;

function haveArrived(
  streamIds: readonly string[],
  hashes: readonly string[],
  confirmed: boolean,
): boolean {
  const ids = received();
  return streamIds.every((id) => hashes.every((hash) => ids.has(keyOf(id, hash, confirmed))));
}

const attempts = async (served: Served): Promise<number> => {
  const response = await fetch(`${served.url}/metrics`, { headers: { 'x-api-key': API_KEY } });
  const lines = (await response.text()).matchAll(/^sluice_delivery_attempts_total\{.*\} (\d+)$/gm);
  return [...lines].reduce((sum, [, n]) => sum + Number(n), 0);
};

test('the previous release and this version deliver together until the upgrade is complete', async () => {
  const before = await start('previous');
  const ids = [await createStream(before, 'before')];
  const hashes = await mine(10, ids);

  const after = await start('this');
  ids.push(await createStream(before, 'by-previous'), await createStream(after, 'by-this'));
  await clientOf(after).streams.update(ids[1]!, { description: 'changed by this version' });
  await clientOf(before).streams.update(ids[2]!, { description: 'changed by the previous one' });
  for (const served of [before, after]) {
    const { result } = await clientOf(served).streams.list({ limit: 10 });
    expect(new Map(result.map(({ id, description }) => [id, description]))).toEqual(
      new Map([
        [ids[0], ''],
        [ids[1], 'changed by this version'],
        [ids[2], 'changed by the previous one'],
      ]),
    );
  }
  const [ofPrevious, ofThis] = [await attempts(before), await attempts(after)];
  const together = await mine(60, ids);
  expect(await attempts(before)).toBeGreaterThan(ofPrevious);
  expect(await attempts(after)).toBeGreaterThan(ofThis);
  // A program that is older than the ledger does not start.
  await expect(start('previous')).rejects.toThrow('newer version of Sluice');

  expect(await before.stop()).toBe(0);
  const alone = await mine(10, ids);
  chain.mine({});
  chain.mine({});
  const all = [...together, ...alone];
  await until(
    'all blocks are confirmed',
    () => haveArrived(ids, all, true) && haveArrived(ids.slice(0, 1), hashes, true),
    60_000,
  );
  const webhookIds = received();
  const expected = ids.flatMap((id, n) =>
    [...(n === 0 ? hashes : []), ...all].flatMap((hash) =>
      [false, true].map((confirmed) => keyOf(id, hash, confirmed)),
    ),
  );
  for (const key of expected) expect([key, webhookIds.get(key)?.size]).toEqual([key, 1]);
});
