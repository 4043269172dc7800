/** Tests the calls that add, test and remove nodes and alert URLs. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isSluiceError, unwrapAlert, unwrapAlertWithPublicKey } from '@sluice/kit';
import { type SluiceClient, createSluiceClient } from '@sluice/kit/sluice';
import {
  type RunningScriptedChain,
  type WebhookSink,
  startScriptedAptos,
  startScriptedChain,
  startWebhookSink,
} from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ServiceConfig } from '../../../config/config.ts';
import { type Service, startService } from '../../../service.ts';

const API_KEY = 'added-urls-test-key-0123456789';
const SECRET = 'added-urls-test-secret';
const CHAIN = '0x7a69';
const SOON = { timeout: 20_000 };
const LONG = 60_000;
/** Matches parts of URLs that no response may contain. */
const KEYS = /key-of-the-(path|query|login)/;
const withKeys = (url: string): string =>
  `${url.replace('//', '//user:key-of-the-login@')}/key-of-the-path?key=key-of-the-query#fragment`;
const log = { info() {}, warn() {}, error() {} };

const folder = mkdtempSync(join(tmpdir(), 'sluice-added-urls-calls-'));
let folders = 0;
let chain: RunningScriptedChain;
let sink: WebhookSink;
let service: Service;
let admin: SluiceClient;
/** Host and port of a server that has stopped. */
let unused: string;
const start = (config: Partial<ServiceConfig> = {}): Promise<Service> =>
  startService(
    {
      port: 0,
      host: '127.0.0.1',
      data: join(folder, String(folders++)),
      apiKey: API_KEY,
      secret: SECRET,
      aptos: [],
      chains: [{ id: '0x1', urls: [withKeys('http://127.0.0.1:1')] }],
      notifyUrl: withKeys('http://127.0.0.1:2'),
      allowPrivateEndpoints: true,
      allowNodeChanges: true,
      ...config,
    },
    log,
  );
const clientOf = ({ url }: Service): SluiceClient =>
  createSluiceClient({ apiKey: API_KEY, baseUrl: url, maxRetries: 0 });

beforeAll(async () => {
  [chain, sink, service] = await Promise.all([startScriptedChain(), startWebhookSink(), start()]);
  admin = clientOf(service);
  unused = await serve(500, (url) => Promise.resolve(new URL(url).host));
});
afterAll(async () => {
  await service.stop();
  await Promise.all([chain.stop(), sink.close()]);
  rmSync(folder, { recursive: true });
});

async function post(path: string, body: unknown, to = service) {
  const response = await fetch(`${to.url}/sluice/${path}`, {
    method: 'POST',
    headers: { 'x-api-key': API_KEY, 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
}

async function failureOf(call: Promise<unknown>) {
  try {
    await call;
  } catch (error) {
    if (isSluiceError(error)) return error;
    throw error;
  }
  throw new Error('the call did not fail');
}

/**
 * Calls `use` with the URL of a server that responds to every request with this status and a
 * secret.
 */
async function serve<T>(status: number, use: (url: string) => Promise<T>): Promise<T> {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: 'secret-of-the-network' }));
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

describe('without --allow-node-changes', () => {
  test('lists are readable, and every change names the flag', { timeout: LONG }, async () => {
    const closed = await start({ allowNodeChanges: false });
    try {
      const client = clientOf(closed);
      expect((await client.getAbout()).allowsNodeChanges).toBe(false);
      expect(await client.listNodes()).toHaveLength(1);
      expect(await client.listAlertUrls()).toHaveLength(1);
      const node = { chainId: CHAIN, url: chain.url };
      const alert = { url: `${sink.url}/refused` };
      for (const change of [
        () => client.addNode(node),
        () => client.testNode(node),
        () => client.removeNode('0x1:1'),
        () => client.addAlertUrl(alert),
        () => client.testAlertUrl(alert),
        () => client.removeAlertUrl('configured'),
      ]) {
        const { status, message } = await failureOf(change());
        expect(status).toBe(403);
        expect(message).toContain('--allow-node-changes');
      }
      expect(sink.requests.some(({ path }) => path === '/refused')).toBe(false);
    } finally {
      await closed.stop();
    }
  });
});

describe('nodes', () => {
  test('a tested node is added, used, listed with its origin and removed', async () => {
    const added = await admin.addNode({ chainId: CHAIN, url: chain.url });
    const { host } = new URL(chain.url);
    expect(added).toMatchObject({ chainId: CHAIN, host, source: 'added' });
    expect(await admin.listNodes()).toEqual([
      { id: '0x1:1', chainId: '0x1', host: '127.0.0.1:1', source: 'configured', addedAt: null },
      added,
    ]);
    const nodesOf = async () =>
      (await admin.listChains()).find(({ id }) => id === CHAIN)?.providers ?? [];
    await expect.poll(async () => (await nodesOf())[0]?.state, SOON).toBe('good');
    expect((await nodesOf()).map(({ addedId }) => addedId)).toEqual([added.id]);
    expect((await admin.listChains())[0]?.providers[0]?.addedId).toBeNull();

    const again = await failureOf(admin.addNode({ chainId: CHAIN, url: `${chain.url}/#other` }));
    expect(again.status).toBe(409);
    expect(again.message).toContain('was already added');

    await admin.removeNode(added.id);
    expect(await admin.listNodes()).toHaveLength(1);
    expect((await failureOf(admin.removeNode(added.id))).status).toBe(404);

    const { result } = await admin.listAudit({ limit: 2 });
    expect(result.map(({ action, target }) => [action, target])).toEqual([
      ['removeNode', `${added.id} ${CHAIN} ${host}`],
      ['addNode', `${added.id} ${CHAIN} ${host}`],
    ]);
  });

  test('the chains show a change of nodes as soon as its call has returned', async () => {
    const addedIds = async () => {
      const chains = await admin.listChains();
      return chains.find(({ id }) => id === CHAIN)?.providers.map(({ addedId }) => addedId) ?? [];
    };
    for (let round = 0; round < 5; round++) {
      const first = await admin.addNode({ url: chain.url });
      expect(await addedIds()).toEqual([first.id]);
      const second = await admin.addNode({ url: chain.wsUrl });
      expect(await addedIds()).toEqual([first.id, second.id]);
      await admin.removeNode(first.id);
      expect(await addedIds()).toEqual([second.id]);
      await admin.removeNode(second.id);
    }
  });

  test('what flags, variables or the file provide cannot be added again or removed', async () => {
    const url = withKeys('http://127.0.0.1:1');
    const twice = await failureOf(admin.addNode({ chainId: '0x1', url }));
    expect(twice.status).toBe(409);
    expect(twice.message).toContain('already configured');
    expect((await failureOf(admin.addNode({ url }))).status).toBe(409);
    const kept = await failureOf(admin.removeNode('0x1:1'));
    expect(kept.status).toBe(409);
    expect(kept.message).toContain('--chain');
    expect(await admin.listNodes()).toHaveLength(1);
  });

  test.each([
    ['wrong-chain', '0x1', () => chain.url],
    ['wrong-chain', '0x1', () => chain.wsUrl],
    ['unreachable', CHAIN, () => `http://${unused}`],
    ['unreachable', CHAIN, () => `ws://${unused}`],
    ['unreachable', 'aptos:testnet', () => `http://${unused}/v1`],
    ['unreachable', CHAIN, () => 'http://unknown.invalid'],
    ['unreachable', undefined, () => `http://${unused}`],
    ['unreachable', undefined, () => `ws://${unused}`],
    ['unreachable', undefined, () => sink.url],
  ])('an unusable node gets a verdict and is not stored: %s for %s', async (code, chainId, url) => {
    const node = { ...(chainId !== undefined && { chainId }), url: url() };
    expect(await admin.testNode(node)).toMatchObject({ code, latencyMs: null, chainId: null });
    const refused = await failureOf(admin.addNode(node));
    expect(refused.status).toBe(422);
    expect(refused.details).toHaveProperty(['requestBody.url', 'message']);
    expect(await admin.listNodes()).toHaveLength(1);
  });

  test.each(['http', 'ws'])('a good node is reported with its latency: %s', async (scheme) => {
    const url = scheme === 'http' ? chain.url : chain.wsUrl;
    const verdict = await admin.testNode({ chainId: CHAIN, url });
    expect(verdict).toMatchObject({ code: 'ok', latencyMs: expect.any(Number), chainId: CHAIN });
    const found = await admin.testNode({ url });
    expect(found).toMatchObject({ code: 'ok', chainId: CHAIN });
    expect(found.message).toBe(`responds and serves ${CHAIN}`);
    const { result } = await admin.listAudit({ limit: 1 });
    expect(result[0]).toMatchObject({
      action: 'testNode',
      target: `${CHAIN} ${new URL(url).host}`,
    });
  });

  test('a node of an Aptos network is tested and added', async () => {
    const aptos = await startScriptedAptos();
    try {
      const node = { chainId: 'aptos:local', url: aptos.url };
      expect((await admin.testNode(node)).code).toBe('ok');
      expect(await admin.testNode({ url: aptos.url })).toMatchObject({ chainId: 'aptos:local' });
      const added = await admin.addNode({ url: aptos.url });
      expect(added.chainId).toBe('aptos:local');
      await admin.removeNode(added.id);
    } finally {
      await aptos.stop();
    }
  });

  test.each([200, 401, 429, 500])('no part of a response is returned: HTTP %i', async (status) => {
    await serve(status, async (url) => {
      for (const chainId of [CHAIN, 'aptos:testnet']) {
        for (const path of ['nodes', 'nodes/test']) {
          const { text } = await post(path, { chainId, url });
          expect(text).toContain('message');
          expect(text).not.toContain('secret-of');
        }
      }
    });
  });

  test('the metadata services of clouds are blocked even if private networks are allowed', async () => {
    for (const url of [
      'http://169.254.169.254/',
      'ws://169.254.169.254/',
      'http://[fd00:ec2::254]/',
      'http://100.100.100.200/',
    ]) {
      expect(await admin.testNode({ chainId: CHAIN, url })).toMatchObject({ code: 'blocked' });
    }
  });

  test('private networks are blocked unless they are allowed', { timeout: LONG }, async () => {
    const strict = await start({ allowPrivateEndpoints: false, chains: [], notifyUrl: undefined });
    const lenient = await start({
      allowPrivateEndpoints: false,
      allowCidrs: ['127.0.0.0/8'],
      chains: [],
      notifyUrl: undefined,
    });
    try {
      const node = { chainId: CHAIN, url: chain.url };
      const blocked = await clientOf(strict).testNode(node);
      expect(blocked.code).toBe('blocked');
      expect(blocked.message).toContain('--allow-cidr');
      expect((await failureOf(clientOf(strict).addNode(node))).status).toBe(422);
      expect((await clientOf(lenient).testNode(node)).code).toBe('ok');
      const alert = { url: `${sink.url}/private` };
      expect((await clientOf(strict).testAlertUrl(alert)).code).toBe('blocked');
      expect((await failureOf(clientOf(strict).addAlertUrl(alert))).status).toBe(422);
      expect(sink.requests.some(({ path }) => path === '/private')).toBe(false);
      expect((await clientOf(lenient).testAlertUrl(alert)).code).toBe('ok');
    } finally {
      await Promise.all([strict.stop(), lenient.stop()]);
    }
  });

  test('invalid URLs are refused at their field, and never repeated', async () => {
    const key = 'key-of-the-path';
    for (const url of [
      `rpc.example.org/${key}`,
      `ftp://rpc.example.org/${key}`,
      `javascript:alert("${key}")`,
      `https://%zz:${key}@rpc.example.org`,
      `https://rpc.example.org/${key}${'x'.repeat(2_048)}`,
      `https://${key}\0.example`,
      7,
    ]) {
      const { status, text } = await post('nodes', { chainId: CHAIN, url });
      expect([status, text]).toEqual([422, expect.stringContaining('requestBody.url')]);
      expect(text).not.toMatch(KEYS);
    }
    const aptos = await post('nodes', { chainId: 'aptos:testnet', url: `wss://x.example/${key}` });
    expect(aptos).toEqual({ status: 422, text: expect.stringContaining('requestBody.url') });
    expect(aptos.text).not.toMatch(KEYS);
    const unknown = await post('nodes', {
      chainId: 'eth',
      url: `https://x.example/${key}`,
      x: key,
    });
    expect(unknown.text).toContain('requestBody.chainId');
    expect(unknown.text).not.toMatch(KEYS);
    const surrogate = await post('nodes/test', '{"chainId":"0x1","url":"http://\\ud800/\\udfff"}');
    expect(surrogate.status).toBe(422);
  });

  test('keys in URLs are in no response', async () => {
    const url = withKeys(chain.url);
    const texts = [
      (await post('nodes', { chainId: '0x1', url })).text,
      (await post('nodes/test', { chainId: CHAIN, url })).text,
      (await post('nodes', { chainId: CHAIN, url })).text,
      (await post('nodes', { chainId: CHAIN, url })).text,
      (await post('alert-urls', { url: withKeys(sink.url) })).text,
      (await post('alert-urls', { url: withKeys(sink.url) })).text,
      (await post('alert-urls', { url: withKeys('http://127.0.0.1:2') })).text,
    ];
    for (const path of ['nodes', 'alert-urls', 'chains', 'audit']) {
      const response = await fetch(`${service.url}/sluice/${path}`, {
        headers: { 'x-api-key': API_KEY },
      });
      texts.push(await response.text());
    }
    const nodes = (await admin.listNodes()).filter(({ source }) => source === 'added');
    const alerts = (await admin.listAlertUrls()).filter(({ source }) => source === 'added');
    expect([nodes.length, alerts.length]).toEqual([1, 1]);
    for (const { id } of nodes) await admin.removeNode(id);
    for (const { id } of alerts) await admin.removeAlertUrl(id);
    for (const text of texts) expect(text).not.toMatch(KEYS);
  });

  test('64 clients at once start a bounded number of tests', async () => {
    let open = 0;
    let most = 0;
    const server = createServer((_request, response) => {
      open++;
      most = Math.max(most, open);
      response.on('close', () => open--);
      setTimeout(() => response.writeHead(500).end(), 200);
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const responses = await Promise.all(
      Array.from({ length: 64 }, () => post('nodes/test', { chainId: CHAIN, url })),
    );
    server.closeAllConnections();
    server.close();
    const statuses = Map.groupBy(responses, ({ status }) => status);
    expect(new Set(statuses.keys())).toEqual(new Set([200, 503]));
    expect(most).toBeLessThanOrEqual(4);
  });
});

describe('alert URLs', () => {
  test('an alert URL is tested, added, listed with its origin and removed', async () => {
    const url = `${sink.url}/alerts`;
    expect(await admin.testAlertUrl({ url })).toMatchObject({
      code: 'ok',
      latencyMs: expect.any(Number),
    });
    const { headers, body } = await sink.waitFor(({ path }) => path === '/alerts');
    expect(unwrapAlert({ headers, body, secret: SECRET }).alert.type).toBe('alert.test');

    const added = await admin.addAlertUrl({ url });
    const { host } = new URL(url);
    expect(await admin.listAlertUrls()).toEqual([
      { id: 'configured', host: '127.0.0.1:2', source: 'configured', addedAt: null },
      added,
    ]);
    expect(added).toMatchObject({ host, source: 'added' });
    expect((await failureOf(admin.addAlertUrl({ url }))).status).toBe(409);
    expect((await failureOf(admin.removeNode(added.id))).status).toBe(404);
    await admin.removeAlertUrl(added.id);
    expect(await admin.listAlertUrls()).toHaveLength(1);
    expect((await failureOf(admin.removeAlertUrl(added.id))).status).toBe(404);

    const { result } = await admin.listAudit({ limit: 3 });
    expect(result.map(({ action, target }) => [action, target])).toEqual([
      ['removeAlertUrl', `${added.id} ${host}`],
      ['addAlertUrl', `${added.id} ${host}`],
      ['testAlertUrl', host],
    ]);
  });

  test('public keys verify alerts', async () => {
    const url = `${sink.url}/signed`;
    const { id: keyId, publicKey } = await admin.createPublicKey({});
    await admin.testAlertUrl({ url });
    const signed = await sink.waitFor(({ path }) => path === '/signed');
    const received = await unwrapAlertWithPublicKey({ ...signed, publicKeys: [publicKey] });
    expect(received).toEqual(unwrapAlert({ ...signed, secret: SECRET }));
    await admin.removePublicKey(keyId);
  });

  test('the URL of --notify-url cannot be added again or removed', async () => {
    const url = withKeys('http://127.0.0.1:2');
    expect((await failureOf(admin.addAlertUrl({ url }))).message).toContain('--notify-url');
    const kept = await failureOf(admin.removeAlertUrl('configured'));
    expect(kept.status).toBe(409);
    expect(kept.message).toContain('--notify-url');
  });

  test('a failing receiver gets a verdict without its response', async () => {
    expect((await admin.testAlertUrl({ url: `http://${unused}` })).code).toBe('unreachable');
    await serve(404, async (url) => {
      const { text } = await post('alert-urls/test', { url });
      expect(text).toContain('"rejected"');
      expect(text).not.toMatch(/secret-of|404/);
    });
  });

  test('only http and https URLs are accepted', async () => {
    for (const url of ['wss://x.example', 'sluice://inbox/a', 'mailto:a@x.example']) {
      expect((await post('alert-urls', { url })).status).toBe(422);
    }
  });
});
