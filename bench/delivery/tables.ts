/**
 * Measures tables in PostgreSQL: rows per second that a destination writes from webhooks with ERC-20
 * transfers and an ABI, so that each transfer has a row in `logs`, in the table of its event and in
 * `erc20_transfers`.
 */
import { type EvmWebhook, TEST_WEBHOOK } from '@sluice/kit/contract';
import pg from 'pg';
import { encodeAbiParameters, encodeEventTopics, erc20Abi } from 'viem';
import {
  ALL_NETWORKS,
  createAddressGuard,
} from '../../packages/service/src/deliver/destinations/http/guard.ts';
import { createPostgres } from '../../packages/service/src/deliver/destinations/postgres/postgres.ts';
import { createSender } from '../../packages/service/src/deliver/send/send.ts';
import { newId } from '../../packages/service/src/store/rows/ids.ts';
import type { Figures } from '../figures.ts';
import { type ServerUse, withPostgres } from './ledgers.ts';

const TRANSFERS = 40_000;
const IN_FLIGHT = 64;
const ROUNDS = 3;
const ABI = erc20Abi.filter(({ type }) => type === 'event');

export const measureTables = (): Promise<Figures> =>
  withPostgres(async ({ url, readUse }) => ({
    ...(await measure(url, readUse, 20)),
    ...(await measure(url, readUse, 1)),
  }));

interface Run {
  perSecond: number;
  /** Rows per second of processor time, of this process and the server together. */
  perCpuSecond: number;
}

async function measure(
  url: string,
  readUse: () => Promise<ServerUse>,
  perWebhook: number,
): Promise<Figures> {
  const runs: Run[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    runs.push(await run(url, readUse, perWebhook, `of_${perWebhook}_${round}`));
  }
  const median = (key: keyof Run): number =>
    runs.map((each) => each[key]).sort((a, b) => a - b)[1]!;
  const note = `${TRANSFERS} transfers, ${perWebhook} per webhook, ${IN_FLIGHT} in flight; three rows each; median of ${ROUNDS}`;
  return {
    [`tables_${perWebhook}`]: { value: median('perSecond'), unit: 'rows/s', note },
    [`tables_${perWebhook}_cpu`]: {
      value: median('perCpuSecond'),
      unit: 'rows',
      note: 'per second of processor time of the sender and the server',
    },
  };
}

/** Writes all transfers to a new schema. */
async function run(
  server: string,
  readUse: () => Promise<ServerUse>,
  perWebhook: number,
  schema: string,
): Promise<Run> {
  const sender = createSender({
    destinations: [createPostgres({ guard: createAddressGuard({ allowCidrs: ALL_NETWORKS }) })],
    secret: () => 'bench-secret',
    region: () => 'us-east-1',
    timeoutMs: 60_000,
  });
  const url = `${server}?schema=${schema}`;
  const send = async (webhook: EvmWebhook): Promise<void> => {
    const body = Buffer.from(JSON.stringify(webhook));
    const request = { url, id: newId(), body, headers: {}, queueSize: 0, recordsCharged: 0 };
    const { error } = await sender.send(request);
    if (error !== null) throw new Error(error);
  };
  await send(TEST_WEBHOOK);
  const webhooks = Array.from({ length: TRANSFERS / perWebhook }, (_, n) =>
    webhookOf(n, perWebhook),
  );
  const [usedBefore, cpuBefore] = [await readUse(), process.cpuUsage()];
  const beganAt = performance.now();
  await Promise.all(
    Array.from({ length: IN_FLIGHT }, async () => {
      for (let next = webhooks.pop(); next !== undefined; next = webhooks.pop()) await send(next);
    }),
  );
  const seconds = (performance.now() - beganAt) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  const used = await readUse();
  await sender.close();
  await checkRows(server, schema);
  const cpuSeconds = (user + system + used.cpuUs - usedBefore.cpuUs) / 1_000_000;
  return { perSecond: (3 * TRANSFERS) / seconds, perCpuSecond: (3 * TRANSFERS) / cpuSeconds };
}

async function checkRows(url: string, schema: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query<{ n: string }>(`
    select (select count(*) from ${schema}.logs) + (select count(*) from ${schema}.event_transfer)
      + (select count(*) from ${schema}.erc20_transfers) as n`);
  await client.end();
  if (Number(rows[0]!.n) !== 3 * TRANSFERS) throw new Error(`${rows[0]!.n} rows were written`);
}

const account = (n: number): `0x${string}` => `0x${n.toString(16).padStart(40, '0')}`;

function webhookOf(number: number, transfers: number): EvmWebhook {
  const numbers = Array.from({ length: transfers }, (_, n) => number * transfers + n);
  const hashOf = (n: number): string => `0x${n.toString(16).padStart(64, '0')}`;
  return {
    ...TEST_WEBHOOK,
    streamId: 'bench',
    tag: 'bench',
    chainId: '0x1',
    abi: ABI as never,
    block: { number: String(number), hash: hashOf(number + 1), timestamp: '1700000000' },
    logs: numbers.map((n) => {
      const args = { from: account(n), to: account(n + 1) };
      const [topic0, topic1, topic2] = encodeEventTopics({
        abi: erc20Abi,
        eventName: 'Transfer',
        args,
      }) as string[];
      return {
        transactionHash: hashOf(n),
        logIndex: '0',
        address: account(7),
        data: encodeAbiParameters([{ type: 'uint256' }], [BigInt(n)]),
        topic0: topic0!,
        topic1: topic1!,
        topic2: topic2!,
        topic3: null,
      };
    }),
    erc20Transfers: numbers.map((n) => ({
      transactionHash: hashOf(n),
      logIndex: '0',
      contract: account(7),
      from: account(n),
      to: account(n + 1),
      value: String(n),
      tokenDecimals: '18',
      tokenName: 'Token',
      tokenSymbol: 'TKN',
    })),
  };
}
