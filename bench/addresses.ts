/**
 * Measures imports of 100,000 labeled addresses in random order, as by the console and `sluice
 * addresses import`: into an empty stream, and into a stream with a million addresses. The service
 * is a separate process with production durability.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@sluice/kit';
import { createSluiceClient } from '@sluice/kit/sluice';
import { API_KEY, serve } from '../test/serve.ts';
import { type EngineName, withPostgres } from './delivery/ledgers.ts';
import { type Figures, toFigure } from './figures.ts';

const ADDRESSES = 100_000;
const PRESENT = [0, 1_000_000];

export async function measureAddresses(engine: EngineName): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
  try {
    if (engine === 'sqlite') return await measureAt(['--data', folder]);
    return await withPostgres(({ url }) => measureAt(['--data', folder, '--database-url', url]));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function measureAt(args: readonly string[]): Promise<Figures> {
  const service = await serve([...args, '--min-free-mib', '0']);
  try {
    const figures: Figures = {};
    for (const present of PRESENT) {
      const into = `into ${present.toLocaleString('en')}`;
      const { totalMs, longestMs } = await measureImport(service.url, present);
      figures[`uploaded, ${into}`] = toFigure(totalMs, 'ms', '100,000 with labels');
      figures[`progress, ${into}`] = toFigure(
        longestMs,
        'ms',
        'longest wait for progress; goal 250',
      );
    }
    return figures;
  } finally {
    await service.stop();
  }
}

async function measureImport(
  baseUrl: string,
  present: number,
): Promise<{ totalMs: number; longestMs: number }> {
  const connection = { baseUrl, apiKey: API_KEY, timeoutMs: 300_000 };
  const { streams } = createClient(connection);
  const { id: streamId } = await streams.create({
    webhookUrl: 'sluice://inbox/bench',
    description: 'of the bench',
    tag: 'bench',
    chainIds: ['0x1'],
    includeNativeTxs: true,
  });
  if (present > 0) await streams.replaceAddresses(streamId, listAddresses('there', present));
  const addresses = listAddresses('coming', ADDRESSES).map((address, n) => ({
    address,
    label: `customer ${n}`,
  }));
  const times = [performance.now()];
  await createSluiceClient(connection).importAddresses({
    streamId,
    family: 'evm',
    addresses,
    onProgress: () => times.push(performance.now()),
  });
  const { amountOfAddresses } = await streams.get(streamId);
  if (amountOfAddresses !== present + ADDRESSES)
    throw new Error(`The stream has ${amountOfAddresses} addresses`);
  await streams.delete(streamId);
  return {
    totalMs: times.at(-1)! - times[0]!,
    longestMs: Math.max(...times.slice(1).map((at, n) => at - times[n]!)),
  };
}

const listAddresses = (seed: string, count: number): string[] =>
  Array.from(
    { length: count },
    (_, n) => `0x${createHash('sha1').update(`${seed} ${n}`).digest('hex')}`,
  );
