/** Prints, as JSON, the source files that run for every block and for one page of deliveries. */
import { Session } from 'node:inspector/promises';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient } from '@sluice/kit';
import { createSluiceClient } from '@sluice/kit/sluice';
import { createLog, startService } from '@sluice/service';
import { scripted, startScriptedChain, startWebhookSink, until } from '@sluice/testkit';
import { ROOT } from './figures.ts';

const CHAIN = '0x7a69';
const API_KEY = 'key_of_the_house_0123456789';
const WATCHED = `0x${'ab'.repeat(20)}` as const;
/** Number of blocks mined before the measurement, to fill caches and compile hot code. */
const WARM_BLOCKS = 20;
/**
 * Number of measured blocks. Only files that run for each of these blocks count, not files of
 * periodic work, such as renewing a lease.
 */
const MEASURED_BLOCKS = 5;
/** Files that do not count: the testkit only simulates chains and receivers. */
const NOT_COUNTED = /^packages\/testkit\//;

const folder = mkdtempSync(path.join(tmpdir(), 'sluice-house-'));
const chain = await startScriptedChain();
const receiver = await startWebhookSink();
const service = await startService(
  {
    port: 0,
    host: '127.0.0.1',
    dataFolder: folder,
    environment: 'dev',
    apiKey: API_KEY,
    chains: [{ id: CHAIN, urls: [chain.wsUrl], confirmations: 2, pollMs: 60_000 }],
    aptos: [],
    allowPrivateEndpoints: true,
    testWebhook: false,
  },
  createLog(() => {}),
);
const { streams } = createClient({ apiKey: API_KEY, baseUrl: service.url });
const stream = await streams.create({
  webhookUrl: receiver.url,
  description: 'measured',
  tag: 'measured',
  chainIds: [CHAIN],
  includeContractLogs: true,
});
await streams.addAddress(stream.id, WATCHED);
const sluice = createSluiceClient({ apiKey: API_KEY, baseUrl: service.url });
await until('the chain is live', async () => (await sluice.listChains())[0]?.state === 'live');

async function mine(): Promise<void> {
  const event = scripted.log({ address: WATCHED, topics: [`0x${'fa'.repeat(32)}`] });
  const number = String(chain.mine({ transactions: [event] }).number);
  const isOfBlock = ({ body }: { body: string }): boolean => {
    const webhook = JSON.parse(body) as { confirmed: boolean; block: { number: string } };
    return webhook.block.number === number && !webhook.confirmed;
  };
  await until('its POST', () => receiver.requests.some(isOfBlock), 10_000, 1);
}

interface Coverage {
  result: { url: string; functions: { ranges: { count: number }[] }[] }[];
}
type Ask = (method: string, params?: object) => Promise<unknown>;

/** Returns a profiler for each thread, because the SQLite ledger writes in a separate thread. */
async function attach(): Promise<Ask[]> {
  const main = new Session();
  main.connect();
  const answers = new Map<string, (result: unknown) => void>();
  const threads: string[] = [];
  let asked = 0;
  main.on('NodeWorker.attachedToWorker', ({ params }) => void threads.push(params.sessionId));
  main.on('NodeWorker.receivedMessageFromWorker', ({ params: { sessionId, message } }) => {
    const { id, result } = JSON.parse(message) as { id: number; result: unknown };
    answers.get(`${sessionId} ${id}`)?.(result);
  });
  await main.post('NodeWorker.enable', { waitForDebuggerOnStart: false });
  const toThread =
    (sessionId: string): Ask =>
    (method, params = {}) =>
      new Promise((resolve, reject) => {
        const id = ++asked;
        answers.set(`${sessionId} ${id}`, resolve);
        const message = JSON.stringify({ id, method, params });
        main.post('NodeWorker.sendMessageToWorker', { sessionId, message }).catch(reject);
      });
  const toMain = main as unknown as { post: Ask };
  return [(method, params) => toMain.post(method, params), ...threads.map(toThread)];
}

const profilers = await attach();
await Promise.all(profilers.map((ask) => ask('Profiler.enable')));

async function executedBy(work: () => Promise<unknown>): Promise<string[]> {
  const start = { callCount: true, detailed: false };
  await Promise.all(profilers.map((ask) => ask('Profiler.startPreciseCoverage', start)));
  await work();
  const coverages = await Promise.all(
    profilers.map((ask) => ask('Profiler.takePreciseCoverage') as Promise<Coverage>),
  );
  await Promise.all(profilers.map((ask) => ask('Profiler.stopPreciseCoverage')));
  const names = coverages
    .flatMap(({ result }) => result)
    .filter(({ url }) => url.startsWith('file:'))
    .filter(({ functions }) => functions.some(({ ranges }) => ranges[0]!.count > 0))
    .map(({ url }) => path.relative(ROOT, fileURLToPath(url)))
    .filter((name) => /^packages\/\w+\/src\//.test(name) && !NOT_COUNTED.test(name));
  return [...new Set(names)].toSorted();
}

for (let n = 0; n < WARM_BLOCKS; n++) await mine();
let block = await executedBy(mine);
for (let n = 1; n < MEASURED_BLOCKS; n++) {
  const next = new Set(await executedBy(mine));
  block = block.filter((name) => next.has(name));
}
await sluice.listDeliveries({ limit: 10 });
const page = await executedBy(() => sluice.listDeliveries({ limit: 10 }));

await service.stop();
await receiver.close();
await chain.stop();
rmSync(folder, { recursive: true });
process.stdout.write(JSON.stringify({ block, page }));
