/**
 * Measures how long one request can block the service while webhooks are delivered: the largest
 * hostile bodies for every route, and streams with the heaviest rules. The service is a separate
 * process that measures its own event loop.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { eachCall } from '@sluice/kit/calls';
import { ROUTES, type Route, SLUICE_ROUTES } from '@sluice/kit/contract';
import { scripted, startScriptedChain, startWebhookSink } from '@sluice/testkit';
import { BODY_LIMIT_BYTES, bodyLimitOf } from '../../packages/service/src/api/body.ts';
import { API_KEY, type Served, serve } from '../../test/serve.ts';
import { type RawResponse, sendRaw } from '../../test/story/sendRaw.ts';
import { type Figures, toFigure } from '../figures.ts';
import {
  type HostileBodies,
  TRANSFER,
  addressBodies,
  heavyRules,
  hostileBodies,
} from './bodies.ts';
import { HEARTBEAT } from './heartbeat.ts';

const CHAIN = '0x7a69';
/** Chain id of Ethereum, on which ENS names are resolved. */
const ETHEREUM = '0x1';
const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';
const TOKEN = '0x00000000000000000000000000000000000000aa';
const BLOCK_EVERY_MS = 500;
const LOGS_PER_BLOCK = 100;
/** Number of blocks for which the measurement waits while a stream with heavy rules is matched. */
const BLOCKS_WATCHED = 3;
const LARGE_STREAMS = 50;
const IDLE_MS = 5_000;
/** Time limits of an attack, and of the service's report of its event loop. */
const ATTACK_MS = 60_000;
const HEARTBEAT_MS = 30_000;
const RESPONSE_LIMIT = 65_536;
const KEY = { 'x-api-key': API_KEY };
const heartbeat = fileURLToPath(new URL('heartbeat.ts', import.meta.url));

type Group = 'open' | 'keyed' | 'addresses' | 'filters' | 'idle';
/**
 * Maximum time in milliseconds for which an attack may block the event loop. Longer times are
 * printed.
 */
const LIMITS_MS: Readonly<Record<Group, number>> = {
  idle: 50,
  open: 50,
  keyed: 100,
  addresses: 100,
  filters: 100,
};
interface Attack {
  group: Group;
  what: string;
  blockedMs: number;
}

/**
 * @param only substrings of attack names, such as `createSession` or `addresses`, to run only
 * these. Default: all
 */
export async function measureHostile(only: readonly string[]): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-hostile-'));
  const [chain, ethereum, sink] = await Promise.all([
    startScriptedChain(),
    startScriptedChain({ chainId: 1 }),
    startWebhookSink(),
  ]);
  const service = await serve(
    [
      '--data',
      folder,
      '--min-free-mib',
      '0',
      '--rate-limit',
      '0',
      '--chain',
      `${CHAIN}=${chain.wsUrl}`,
      '--chain',
      `${ETHEREUM}=${ethereum.wsUrl}`,
    ],
    { nodeFlags: ['--import', heartbeat] },
  );
  const mining = setInterval(() => {
    const to = TOKEN;
    const transactions = Array.from({ length: LOGS_PER_BLOCK }, (_, n) =>
      scripted.erc20Transfer({ token: TOKEN, from: to, to, value: BigInt(n) }),
    );
    chain.mine({ transactions });
  }, BLOCK_EVERY_MS);
  try {
    const stream = async (body: object): Promise<string> => {
      const response = await send(service, ROUTES.createEvmStream, '/streams/evm', {
        webhookUrl: sink.url,
        description: 'bench',
        tag: 'bench',
        chainIds: [CHAIN],
        ...body,
      });
      if (response.status !== 200)
        throw new Error(`Couldn't create the stream: ${response.text.slice(0, 500)}`);
      return (JSON.parse(response.text) as { id: string }).id;
    };
    const delivering = await stream({ includeContractLogs: true });
    const path = `/streams/evm/${delivering}/address`;
    const added = await send(service, ROUTES.addEvmAddresses, path, { address: TOKEN });
    if (added.status !== 200)
      throw new Error(`Couldn't add the address: ${added.text.slice(0, 500)}`);
    await sink.waitFor(3, { timeoutMs: 60_000 }).catch((error: unknown) => {
      throw new Error(`No webhooks arrived:\n${service.output()}`, { cause: error });
    });

    const attacks: Attack[] = [];
    const before = sink.requests.length;
    const isAsked = (attack: string): boolean =>
      only.length === 0 || only.some((part) => attack.includes(part));
    const measure = async (group: Group, what: string, work: () => Promise<unknown>) => {
      if (!isAsked(`${group} ${what}`)) return;
      await readBlock(service);
      await within(ATTACK_MS, `${group}: ${what}`, work());
      const blockedMs = await readBlock(service);
      attacks.push({ group, what, blockedMs });
      if (blockedMs > LIMITS_MS[group]) console.error(`${group}: ${what}: ${blockedMs} ms`);
    };
    await measure('idle', 'no attack', () => wait(IDLE_MS));

    // The service unpacks its Unicode tables for the first name with non-ASCII characters.
    await measure('keyed', 'resolveName, a name outside ASCII', () =>
      send(service, SLUICE_ROUTES.resolveName, `/sluice/names/${encodeURIComponent('é.eth')}`),
    );

    const victims = {
      evm: await stream({}),
      aptos: await createAptos(service, sink.url),
    };
    for (const { bodies, group, routes } of targets()) {
      for (const [kind, make] of Object.entries(bodies)) {
        const asked = routes.filter(({ name }) => isAsked(`${group} ${name}, ${kind}`));
        // All routes of a group share these bodies, which are created one at a time because they
        // are large.
        const body = Buffer.from(asked.length > 0 ? make() : '');
        for (const { name, route, family } of asked) {
          const isMade = group === 'addresses' || route.method === 'POST';
          const path = fill(route, isMade ? victims[family] : UNKNOWN_ID);
          await measure(group, `${name}, ${kind}`, async () => {
            const { status, text } = await send(service, route, path, body);
            if (status >= 500 || (status >= 400 && text.length > RESPONSE_LIMIT)) {
              throw new Error(`${name}, ${kind}: ${status}, ${text.length} characters`);
            }
          });
        }
      }
    }

    for (const [kind, rules] of Object.entries(heavyRules())) {
      const all = { allAddresses: true, includeContractLogs: true, ...rules };
      let id = '';
      await measure('filters', `create a stream with ${kind}`, async () => {
        id = await stream({ topic0: [TRANSFER], ...all });
      });
      const path = `/streams/evm/${id}`;
      await measure('filters', `match a stream with ${kind}`, async () => {
        await wait(BLOCK_EVERY_MS * BLOCKS_WATCHED);
      });
      await measure('filters', `update a stream with ${kind}`, async () => {
        await send(service, ROUTES.updateEvmStream, path, { description: kind });
        await wait(BLOCK_EVERY_MS);
      });
      await measure('filters', `list a stream with ${kind}`, () =>
        send(service, ROUTES.listEvmStreams, '/streams/evm?limit=100'),
      );
      await measure('filters', `dry-run ${kind} on a block`, () =>
        send(service, SLUICE_ROUTES.dryRunEvm, fill(SLUICE_ROUTES.dryRunEvm, ''), {
          block: 2,
          ...all,
        }),
      );
      await send(service, ROUTES.deleteEvmStream, path);
    }
    const large = { allAddresses: true, includeContractLogs: true, ...heavyRules()['many items'] };
    for (let n = 0; n < LARGE_STREAMS; n++) await stream({ topic0: ['Never()'], ...large });
    for (const path of ['/streams/evm?limit=100', '/sluice/streams']) {
      await measure('filters', `list ${LARGE_STREAMS} streams with many items: ${path}`, () =>
        send(service, ROUTES.listEvmStreams, path),
      );
    }
    const webhooks = sink.requests.length - before;
    return toFigures(attacks, webhooks);
  } finally {
    clearInterval(mining);
    await service.stop();
    await Promise.all([chain.stop(), ethereum.stop(), sink.close()]);
    rmSync(folder, { recursive: true });
  }
}

interface Target {
  name: string;
  route: Route;
  family: 'evm' | 'aptos';
}

/** Returns all routes, grouped by the bodies that are sent to them. */
function targets(): { group: Group; bodies: HostileBodies; routes: Target[] }[] {
  const groups = new Map<string, { group: Group; bodies: HostileBodies; routes: Target[] }>();
  for (const [name, route] of eachCall) {
    const limit = bodyLimitOf(route);
    const family = route.path.startsWith('/streams/aptos') ? 'aptos' : 'evm';
    const isAddresses = limit > BODY_LIMIT_BYTES;
    const group = route.scope === 'open' ? 'open' : isAddresses ? 'addresses' : 'keyed';
    const key = [group, limit, isAddresses && family].join();
    const bodies = isAddresses
      ? addressBodies(limit, family === 'evm' ? 40 : 64)
      : hostileBodies(limit);
    const same = groups.get(key) ?? { group, bodies, routes: [] };
    groups.set(key, same);
    same.routes.push({ name, route, family });
  }
  return [...groups.values()];
}

function toFigures(attacks: readonly Attack[], webhooks: number): Figures {
  const worst = (group: Group) => {
    const sorted = attacks
      .filter((each) => each.group === group)
      .toSorted((a, b) => b.blockedMs - a.blockedMs);
    const named = sorted.slice(0, 5).map((each) => `${each.what} ${Math.round(each.blockedMs)}`);
    return toFigure(
      sorted[0]?.blockedMs ?? 0,
      'ms',
      `${sorted.length} attacks: ${named.join('; ')}`,
    );
  };
  return {
    idle: worst('idle'),
    open_routes: worst('open'),
    keyed_routes: worst('keyed'),
    address_routes: worst('addresses'),
    filters: worst('filters'),
    webhooks: toFigure(webhooks, '', 'delivered during the attacks'),
  };
}

const fill = ({ path }: Route, id: string): string =>
  path
    .replace('{chainId}', CHAIN)
    .replace('{network}', 'testnet')
    .replace('{blockNumber}', '1')
    .replace('/sluice/chains/{id}', `/sluice/chains/${CHAIN}`)
    .replaceAll(/\{(?:id|streamId)\}/g, path.includes('/duplicate') ? UNKNOWN_ID : id)
    .replaceAll(/\{\w{1,40}\}/g, 'x');

const send = (
  service: Served,
  { method }: Route,
  path: string,
  body?: unknown,
): Promise<RawResponse> => sendRaw(service.url, method, path, { body, headers: KEY });

async function createAptos(service: Served, webhookUrl: string): Promise<string> {
  const { text } = await send(service, ROUTES.createAptosStream, '/streams/aptos', {
    webhookUrl,
    description: 'bench',
    tag: 'bench',
    network: ['testnet'],
  });
  return (JSON.parse(text) as { id: string }).id;
}

/**
 * Returns the result of the work. If the work takes longer than `ms`, throws an error that names
 * the work.
 */
async function within<T>(ms: number, what: string, work: Promise<T>): Promise<T> {
  const stopped = new AbortController();
  const late = async (): Promise<never> => {
    await wait(ms, undefined, { signal: stopped.signal });
    throw new Error(`${what} did not finish within ${ms} ms`);
  };
  try {
    return await Promise.race([work, late()]);
  } finally {
    stopped.abort();
  }
}

/**
 * Returns the longest time that the event loop was blocked since the previous call, in
 * milliseconds.
 */
async function readBlock(service: Served): Promise<number> {
  const before = service.output().lastIndexOf(HEARTBEAT);
  process.kill(service.pid, 'SIGUSR2');
  const until = performance.now() + HEARTBEAT_MS;
  for (;;) {
    const at = service.output().lastIndexOf(HEARTBEAT);
    const line = service.output().slice(at + HEARTBEAT.length);
    if (at > before && line.includes('\n')) return Number.parseFloat(line);
    if (!service.isRunning() || performance.now() > until) {
      throw new Error(`The service does not respond:\n${service.output().slice(-4_000)}`);
    }
    await wait(5);
  }
}
