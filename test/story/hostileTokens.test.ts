/** Tests token contracts that return megabytes: the webhook arrives, and memory stays bounded. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@sluice/kit';
import type { EvmWebhook } from '@sluice/kit/contract';
import { createSluiceClient } from '@sluice/kit/sluice';
import {
  type RunningScriptedChain,
  type WebhookSink,
  scripted,
  startScriptedChain,
  startWebhookSink,
  until,
} from '@sluice/testkit';
import { encodeAbiParameters } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { API_KEY, type Served, serve } from '../serve.ts';

const CHAIN = '0x7a69';
const TOKENS = 200;
const NAME_BYTES = 1024 * 1024;
const tokenOf = (n: number): `0x${string}` => `0x${(0x70000 + n).toString(16).padStart(40, '0')}`;
const HONEST = tokenOf(TOKENS);

const folder = mkdtempSync(join(tmpdir(), 'sluice-hostile-tokens-'));
let chain: RunningScriptedChain;
let sink: WebhookSink;
let served: Served;

beforeAll(async () => {
  [chain, sink] = await Promise.all([startScriptedChain(), startWebhookSink()]);
  const textOf = (text: Buffer) =>
    encodeAbiParameters([{ type: 'bytes' }], [`0x${text.toString('hex')}`]);
  const names = [
    // Names of ASCII letters, of truncated UTF-8, of surrogates as in CESU-8, and of NUL.
    ...['61', 'f09f98', 'eda0bd', '00'].map((unit) =>
      textOf(Buffer.alloc(NAME_BYTES, Buffer.from(unit, 'hex'))),
    ),
  ];
  const honest = textOf(Buffer.from('Honest'));
  chain.answerCalls(({ to, data }) => {
    if (to.toLowerCase() === HONEST) return data === '0x06fdde03' ? honest : '0x';
    return names[Number(to) % names.length]!;
  });
  chain.mineMany(3);
  served = await serve([
    ...['--data', folder],
    ...['--chain', `${CHAIN}=${chain.url},confirmations=2,poll=50`],
  ]);
});
afterAll(async () => {
  await served?.stop();
  await sink?.close();
  await chain?.stop();
  rmSync(folder, { recursive: true });
});

/**
 * Reads the current (`VmRSS`) or peak (`VmHWM`) memory of the service, in MiB. The peak is measured
 * from its last reset.
 */
const readMib = (field: 'VmRSS' | 'VmHWM'): number => {
  const status = readFileSync(`/proc/${served.pid}/status`, 'utf8');
  return Number(new RegExp(String.raw`^${field}:\s+(\d+)`, 'm').exec(status)![1]) / 1024;
};

test('names of a megabyte count as unknown and use little memory', async () => {
  const client = createClient({ apiKey: API_KEY, baseUrl: served.url });
  const sluice = createSluiceClient({ apiKey: API_KEY, baseUrl: served.url });
  await until('the chain is live', async () => (await sluice.listChains())[0]?.state === 'live');
  const { id } = await client.streams.create({
    webhookUrl: sink.url,
    description: '',
    tag: 'all',
    chainIds: [CHAIN],
    includeContractLogs: true,
    allAddresses: true,
    topic0: ['Transfer(address,address,uint256)'],
  });
  const idle = readMib('VmRSS');
  writeFileSync(`/proc/${served.pid}/clear_refs`, '5');
  const [from, to] = [`0x${'11'.repeat(20)}`, `0x${'22'.repeat(20)}`] as const;
  chain.mine({
    transactions: Array.from({ length: TOKENS + 1 }, (_, n) =>
      scripted.erc20Transfer({ token: tokenOf(n), from, to, value: 5n }),
    ),
  });
  chain.mineMany(3);
  await until(
    'both phases are delivered',
    async () => {
      const { result } = await sluice.listDeliveries({ streamId: id });
      return result.length === 2 && result.every(({ state }) => state === 'succeeded');
    },
    60_000,
  );
  expect(readMib('VmHWM') - idle).toBeLessThan(150);
  const { erc20Transfers } = JSON.parse(sink.requests.at(-1)!.body) as EvmWebhook;
  expect(erc20Transfers).toHaveLength(TOKENS + 1);
  expect(new Set(erc20Transfers.slice(0, TOKENS).map(({ tokenName }) => tokenName))).toEqual(
    new Set(['']),
  );
  expect(erc20Transfers.at(-1)).toMatchObject({ contract: HONEST, tokenName: 'Honest' });
});
