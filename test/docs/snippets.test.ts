/**
 * Checks that every snippet of the pages compiles, runs, and prints the output on its page. A
 * program is run in one of four ways:
 * - it listens on port 3000: it gets the unconfirmed and the confirmed webhook of a block;
 * - it listens and creates a stream: it gets webhooks from the service;
 * - it exports a handler: the handler gets a signed request, and the program must exit with code 0;
 * - otherwise: it runs to its end and must exit with code 0.
 *
 * In each case, standard error must stay empty.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient } from '@sluice/kit';
import { createSluiceClient } from '@sluice/kit/sluice';
import { createFakeSender, sampleWebhook } from '@sluice/kit/testing';
import {
  findFreePort,
  type Activity,
  type Anvil,
  type KafkaMock,
  type Nats,
  type Postgres,
  type RabbitMq,
  type WebhookSink,
  deployContracts,
  startActivity,
  startAnvil,
  startKafkaMock,
  startNats,
  startPostgres,
  startRabbitMq,
  startWebhookSink,
  until,
} from '@sluice/testkit';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { API_KEY, SECRET, type Served, serve } from '../serve.ts';
import { type Program, prints, readPrograms } from './programs.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const docs = join(root, 'docs');
/**
 * A git-ignored folder in the repository, so that imports resolve as they do for a reader who
 * follows the page.
 */
const folder = join(root, '.sluice', `docs-${process.pid}`);
const data = mkdtempSync(join(tmpdir(), 'sluice-docs-'));

/** The tested pages. `quickstart.test.ts` tests `quickstart.md` separately. */
const pages = globSync(['*.md', 'kit/*.md'], { cwd: docs }).filter(
  (path) => path !== 'quickstart.md',
);
const programs = pages.flatMap((path) =>
  readPrograms(readFileSync(join(docs, path), 'utf8')).map(
    (program) => [`${path} ${program.file}`, path.replace('.md', ''), program] as const,
  ),
);

let anvil: Anvil;
let activity: Activity;
let service: Served;
let sink: WebhookSink;
let nats: Nats;
let kafka: KafkaMock;
let rabbit: RabbitMq;
let postgres: Postgres;
let children: ChildProcess[] = [];

beforeAll(async () => {
  for (const [, page, { file, code }] of programs) {
    mkdirSync(join(folder, page), { recursive: true });
    writeFileSync(join(folder, page, file), code);
  }
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      extends: '../../tsconfig.json',
      compilerOptions: { noUnusedLocals: false, noPropertyAccessFromIndexSignature: false },
      include: ['**/*.ts'],
      exclude: [],
    }),
  );
  sink = await startWebhookSink();
  nats = await startNats();
  kafka = await startKafkaMock();
  rabbit = await startRabbitMq();
  postgres = await startPostgres();
  anvil = await startAnvil();
  service = await serve([
    '--data',
    join(data, 'service'),
    '--chain',
    `0x7a69=${anvil.url},confirmations=2,poll=50`,
  ]);
  const contracts = await deployContracts(anvil);
  activity = startActivity({ url: anvil.url, contracts, perSecond: 20 });
});

afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  children = [];
  const { streams } = createClient({ baseUrl: service.url, apiKey: API_KEY });
  for await (const { id } of streams.list()) await streams.delete(id);
});

afterAll(async () => {
  await activity?.stop();
  await service?.stop();
  await anvil?.stop();
  await sink?.close();
  await nats?.stop();
  await kafka?.stop();
  await rabbit?.stop();
  await postgres?.stop();
  for (const path of [data, folder]) rmSync(path, { recursive: true, force: true });
});

interface Run {
  readonly child: ChildProcess;
  printed(): string;
  complained(): string;
}

function run(file: string): Run {
  const child = spawn(process.execPath, ['-C', '@sluice/source', file], {
    cwd: join(folder),
    env: {
      ...process.env,
      SLUICE_URL: service.url,
      DATABASE_URL: postgres.url,
      SLUICE_API_KEY: API_KEY,
      SLUICE_SECRET: SECRET,
      NATS_URL: nats.url,
      KAFKA_BROKERS: kafka.brokers.join(','),
      RABBITMQ_URL: rabbit.url,
      NO_COLOR: '1',
      FORCE_COLOR: undefined,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let printed = '';
  let complained = '';
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (complained += chunk.toString()));
  return { child, printed: () => printed, complained: () => complained };
}

async function runToEnd(file: string, output: string | undefined): Promise<void> {
  const { child, printed, complained } = run(file);
  const [code] = (await once(child, 'close')) as [number | null];
  expect({ code, complained: complained() }, printed()).toEqual({ code: 0, complained: '' });
  if (output !== undefined && !prints(output, printed(), 'all')) expect(printed()).toBe(output);
}

const isListening = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });

/** Sends the unconfirmed and the confirmed webhook of a block, like the service. */
async function sendPair(port: number): Promise<void> {
  const sender = createFakeSender({ to: `http://127.0.0.1:${port}/webhooks`, secret: SECRET });
  const { unconfirmed, confirmed } = await sender.sendPair(sampleWebhook('erc20-transfer'));
  expect([unconfirmed, confirmed]).toMatchObject([{ delivered: true }, { delivered: true }]);
}

async function runServer(file: string, { code, output }: Program, port: number): Promise<void> {
  const { printed, complained } = run(file);
  const explain = (error: Error) => {
    throw new Error(`${error.message}:\n${printed()}${complained()}`, { cause: error });
  };
  await until('it listens', () => isListening(port), 25_000).catch(explain);
  if (!code.includes('streams.create(')) await sendPair(port).catch(explain);
  const expected = output ?? '';
  await until('it prints', () => prints(expected, printed(), 'lines in it'), 15_000).catch(explain);
  expect(complained()).toBe('');
}

/**
 * Returns a program that calls the handler exported by a file, like Next.js (`POST`) or Workers
 * (`default.fetch`).
 */
const driverOf = (file: string): string => `
import * as exported from './${basename(file)}';
import { sampleWebhook, signedRequest } from '@sluice/kit/testing';
const secret = process.env.SLUICE_SECRET;
const webhook = sampleWebhook('erc20-transfer');
const handle = exported.POST ?? exported.default.fetch;
const { status } = await handle(signedRequest({ webhook, secret }), process.env);
if (status !== 200) throw new Error('HTTP ' + status);
`;

test("every snippet compiles under the project's strict settings", async () => {
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const child = spawn(process.execPath, [tsc, '-p', folder], { cwd: root });
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  expect({ code, printed }).toEqual({ code: 0, printed: '' });
});

test.for(programs)('%s', async ([, page, program]) => {
  const { listChains } = createSluiceClient({ baseUrl: service.url, apiKey: API_KEY });
  await until('the chain is live', async () => (await listChains())[0]?.state === 'live');
  const file = join(folder, page, program.file);
  const listens = program.code.includes('3000') && /\blisten\(/.test(program.code);
  const port = listens ? await findFreePort() : Number(new URL(sink.url).port);
  writeFileSync(file, program.code.replaceAll(/\b3000\b/g, String(port)));
  if (listens) return runServer(file, program, port);
  if (!/^export (const POST|default)/m.test(program.code)) return runToEnd(file, program.output);
  const driver = file.replace('.ts', '.drive.ts');
  writeFileSync(driver, driverOf(file));
  return runToEnd(driver, program.output);
});
