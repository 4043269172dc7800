/**
 * Measures tables in PostgreSQL: rows per second that a destination writes from webhooks with ERC-20
 * transfers and an ABI, so that each transfer has a row in `logs`, in the table of its event and in
 * `erc20_transfers`.
 */
import { type EvmWebhook, TEST_WEBHOOK } from '@sluice/kit/contract';
import { startPostgres } from '@sluice/testkit';
import pg from 'pg';
import { encodeAbiParameters, encodeEventTopics, erc20Abi } from 'viem';
import {
  ALL_NETWORKS,
  createAddressGuard,
} from '../../packages/service/src/deliver/destinations/http/guard.ts';
import { createPostgres } from '../../packages/service/src/deliver/destinations/postgres/postgres.ts';
import { createSender } from '../../packages/service/src/deliver/send/send.ts';
import { newId } from '../../packages/service/src/store/rows/ids.ts';
import type { Figure, Figures } from '../figures.ts';

const TRANSFERS = 40_000;
const IN_FLIGHT = 64;
const ROUNDS = 3;
const ABI = erc20Abi.filter(({ type }) => type === 'event');

export async function measureTables(): Promise<Figures> {
  const postgres = await startPostgres();
  const pool = new pg.Pool({ connectionString: postgres.url });
  pool.on('error', () => {});
  const sender = createSender({
    destinations: [createPostgres({ guard: createAddressGuard({ allowCidrs: ALL_NETWORKS }) })],
    secret: () => 'bench-secret',
    region: () => 'us-east-1',
    timeoutMs: 60_000,
  });
  let runs = 0;

  /** Writes all transfers, and returns the number of rows per second. */
  const run = async (perWebhook: number): Promise<number> => {
    const schema = `run_${(runs += 1)}`;
    const url = `${postgres.url}?schema=${schema}`;
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
    const beganAt = performance.now();
    await Promise.all(
      Array.from({ length: IN_FLIGHT }, async () => {
        for (let next = webhooks.pop(); next !== undefined; next = webhooks.pop()) await send(next);
      }),
    );
    const seconds = (performance.now() - beganAt) / 1000;
    const { rows } = await pool.query<{ n: string }>(`
      select (select count(*) from ${schema}.logs) + (select count(*) from ${schema}.event_transfer)
        + (select count(*) from ${schema}.erc20_transfers) as n`);
    if (Number(rows[0]!.n) !== 3 * TRANSFERS) throw new Error(`${rows[0]!.n} rows were written`);
    return (3 * TRANSFERS) / seconds;
  };

  const measure = async (perWebhook: number): Promise<Figure> => {
    const values: number[] = [];
    for (let round = 0; round < ROUNDS; round++) values.push(await run(perWebhook));
    return {
      value: values.toSorted((a, b) => a - b)[1]!,
      unit: 'rows/s',
      note: `${TRANSFERS} transfers, ${perWebhook} per webhook, ${IN_FLIGHT} in flight; three rows each; median of ${ROUNDS}`,
    };
  };

  try {
    return { tables: await measure(20), tables_single: await measure(1) };
  } finally {
    await sender.close();
    await pool.end();
    await postgres.stop();
  }
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
