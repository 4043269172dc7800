/**
 * Tests OAuth 2.0 client credentials from the API to the receiver, with a real token endpoint, on
 * both ledgers: tokens are renewed and revoked, failures stay with their stream, and no secret is
 * shown anywhere.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createClient } from '@sluice/kit';
import { createSluiceClient } from '@sluice/kit/sluice';
import {
  type Postgres,
  type RunningScriptedChain,
  type WebhookSink,
  startPostgres,
  startScriptedChain,
  startWebhookSink,
  until,
} from '@sluice/testkit';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { API_KEY, SLUICE, type Served, serve } from '../serve.ts';

const CHAIN = '0x7a69';
const CONTRACT = `0x${'c0'.repeat(20)}` as const;
const TOPIC = `0x${'70'.repeat(32)}` as const;
const CLIENT_SECRET = 'client-secret-4711';
const CREDENTIALS = { clientId: 'sluice', clientSecret: CLIENT_SECRET, scope: 'hooks:write' };
const BASIC = Buffer.from(`sluice:${CLIENT_SECRET}`).toString('base64');

let sink: WebhookSink;
let postgres: Postgres;
let tokenUrl: string;
/** Number of issued tokens. Only the last one is valid. */
let issued = 0;
let isBroken = false;
const tokenOf = (n: number): string => `access-token-${n}-of-the-receiver`;

function respond(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

const tokenServer = createServer((request, response) => {
  request.resume();
  if (isBroken) response.writeHead(503).end(`<html>${BASIC}`);
  else if (request.headers.authorization !== `Basic ${BASIC}`) {
    respond(response, 401, { error: 'invalid_client', error_description: CLIENT_SECRET });
  } else {
    respond(response, 200, { access_token: tokenOf(++issued), token_type: 'bearer' });
  }
});

beforeAll(async () => {
  [sink, postgres] = await Promise.all([startWebhookSink(), startPostgres()]);
  await new Promise<void>((resolve) => {
    tokenServer.listen(0, '127.0.0.1', resolve);
  });
  tokenUrl = `http://127.0.0.1:${(tokenServer.address() as AddressInfo).port}/token`;
  const isValid = (authorization: unknown): boolean =>
    authorization === `Bearer ${tokenOf(issued)}`;
  sink.respond(
    ({ headers }) =>
      isValid(headers['authorization'])
        ? { status: 200, body: `accepted ${headers['authorization'] as string}` }
        : 401,
    { path: '/guarded' },
  );
}, 60_000);
afterAll(async () => {
  tokenServer.close();
  tokenServer.closeAllConnections();
  await sink?.close();
  await postgres?.stop();
});

let databases = 0;

async function createDatabase(): Promise<string> {
  const client = new pg.Client(postgres.url);
  await client.connect();
  const database = `oauth2_${++databases}`;
  await client.query(`create database ${database}`);
  await client.end();
  return postgres.url.replace(/postgres$/, database);
}

describe.each(['SQLite', 'PostgreSQL'])('on %s', (engine) => {
  let folder: string;
  let databaseUrl: string;
  let evm: RunningScriptedChain;
  let served: Served;
  const connect = () => {
    const settings = { apiKey: API_KEY, baseUrl: served.url, maxRetries: 0 };
    return { client: createClient(settings), sluice: createSluiceClient(settings) };
  };
  /** Everything that the service returned or wrote, to be searched for secrets. */
  let shown: string[];

  beforeEach(async () => {
    shown = [];
    isBroken = false;
    folder = mkdtempSync(join(tmpdir(), 'sluice-oauth2-'));
    evm = await startScriptedChain();
    evm.mineMany(3);
    if (engine === 'PostgreSQL') databaseUrl = await createDatabase();
    served = await serve([
      ...['--data', folder, '--chain', `${CHAIN}=${evm.url},confirmations=1,poll=50`],
      ...(engine === 'SQLite' ? [] : ['--database-url', databaseUrl]),
    ]);
    await until('the chain is live', async () =>
      (await connect().sluice.listChains()).every(({ state }) => state === 'live'),
    );
  }, 60_000);
  afterEach(async () => {
    await served?.stop();
    await evm?.stop();
    sink.clear();
    rmSync(folder, { recursive: true });
  });

  const call = async (method: string, path: string, body?: object): Promise<[number, string]> => {
    const response = await fetch(served.url + path, {
      method,
      headers: { 'x-api-key': API_KEY, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    shown.push(text);
    return [response.status, text];
  };
  const emit = (): void =>
    void evm.mine({
      transactions: [{ logs: [{ address: CONTRACT, topics: [TOPIC], data: '0x01' }] }],
    });
  const create = async (tag: string, fields: object = {}): Promise<string> => {
    const [status, text] = await call('PUT', '/streams/evm', {
      webhookUrl: `${sink.url}/guarded`,
      description: '',
      tag,
      chainIds: [CHAIN],
      includeContractLogs: true,
      deliver: 'confirmed',
      ...fields,
    });
    expect(status, text).toBe(200);
    const { id } = JSON.parse(text) as { id: string };
    await connect().client.streams.addAddress(id, CONTRACT);
    return id;
  };
  const succeeded = (streamId: string, count: number) =>
    until(`${count} deliveries of ${streamId} succeeded`, async () => {
      const { result } = await connect().sluice.listDeliveries({ streamId, state: 'succeeded' });
      return result.length === count && result;
    });

  const expectNoSecrets = async (): Promise<void> => {
    shown.push(served.output());
    const { sluice } = connect();
    shown.push(JSON.stringify([await sluice.listStreamSummaries(), await sluice.listAudit()]));
    for (const { streamId, id } of (await sluice.listDeliveries()).result) {
      await call('GET', `/sluice/deliveries/${id}`);
      await call('GET', `/sluice/streams/${streamId}/changes`);
    }
    await call('GET', '/streams/evm');
    await call('GET', '/metrics');
    const { stdout } = await promisify(execFile)(process.execPath, [
      ...[...SLUICE, 'export'],
      ...['--api-url', served.url, '--api-key', API_KEY],
    ]);
    expect(stdout).toContain('clientId: sluice');
    shown.push(stdout);
    if (engine === 'SQLite') {
      await served.stop();
      for (const name of readdirSync(folder)) {
        shown.push(readFileSync(join(folder, name), 'latin1'));
      }
    } else {
      const client = new pg.Client(databaseUrl);
      await client.connect();
      for (const table of ['stream', 'stream_change', 'attempt', 'delivery', 'audit', 'setting']) {
        shown.push(JSON.stringify((await client.query(`select * from ${table}`)).rows));
      }
      await client.end();
    }
    const secrets = [CLIENT_SECRET, BASIC, 'access-token-'];
    for (const text of shown) for (const secret of secrets) expect(text).not.toContain(secret);
  };

  test('sends tokens, renews revoked ones, and keeps failures to the stream', async () => {
    const { sluice } = connect();
    const oauth2 = { tokenUrl, ...CREDENTIALS };
    const id = await create('guarded', { oauth2 });
    const plain = await create('plain', { webhookUrl: `${sink.url}/plain` });
    emit();
    evm.mine();
    await Promise.all([succeeded(id, 1), succeeded(plain, 1)]);
    const before = issued;

    // Revokes the token. The delivery succeeds with a new one, in the same attempt.
    issued++;
    emit();
    evm.mine();
    const renewed = await succeeded(id, 2);
    expect(renewed.map(({ attempts }) => attempts)).toEqual([1, 1]);
    expect(issued).toBe(before + 2);

    // Breaks the token endpoint. The other stream's deliveries arrive in the meantime.
    issued++;
    isBroken = true;
    emit();
    evm.mine();
    await succeeded(plain, 3);
    const failing = await until('the attempt failed', async () => {
      const { result } = await sluice.listDeliveries({ streamId: id, error: 'token request' });
      return result[0];
    });
    expect(failing).toMatchObject({
      state: 'retrying',
      status: null,
      error: 'token request failed: HTTP 503',
    });
    isBroken = false;
    await succeeded(id, 3);
    const detail = await sluice.getDelivery(failing.id);
    expect(detail.attemptList.map(({ error }) => error)).toEqual([
      'token request failed: HTTP 503',
      null,
    ]);
    expect(detail.attemptList.at(-1)?.responseBody).toBe('accepted Bearer ***');

    await expectNoSecrets();
  }, 60_000);

  test('accepts credentials without returning the secret, and refuses two authorizations', async () => {
    const { client, sluice } = connect();
    const { clientSecret: _, ...visible } = { tokenUrl, ...CREDENTIALS };
    const oauth2 = { ...visible, clientSecret: CLIENT_SECRET };
    const id = await create('stream', { oauth2 });
    const aptos = await client.streams.create({
      networkType: 'aptos',
      webhookUrl: `${sink.url}/guarded`,
      description: '',
      tag: 'a',
      network: ['local'],
      oauth2,
    });
    expect(aptos.oauth2).toEqual(visible);
    expect((await client.streams.duplicate(id)).oauth2).toEqual(visible);

    // An absent field is unchanged, and the test webhook of an update has a token.
    const path = `/streams/evm/${id}`;
    await call('POST', path, { webhookUrl: `${sink.url}/guarded`, description: 'other' });
    expect((await client.streams.get(id)).oauth2).toEqual(visible);

    const refusals: [object, RegExp][] = [
      [{ headers: { Authorization: 'a' } }, /headers\.authorization.*remove.*oauth2/],
      [{ webhookUrl: sink.url.replace('//', '//user:pass@') }, /login in webhookUrl.*oauth2/],
      [{ oauth2: visible }, /requestBody\.oauth2\.clientSecret.*is required/],
      [{ oauth2: { ...oauth2, clientSecret: `${CLIENT_SECRET}\n` } }, /printable ASCII/],
      [{ oauth2: { ...oauth2, tokenUrl: 'https://a:b@c/' } }, /without login and fragment/],
      [{ oauth2: { ...oauth2, tokenUrl: 'https://c/#a' } }, /without login and fragment/],
      [{ oauth2: { ...oauth2, secret: CLIENT_SECRET } }, /oauth2\.secret.*not a known field/],
      [{ oauth2: CLIENT_SECRET }, /requestBody\.oauth2.*should be an object/],
      [{ oauth: { clientSecret: CLIENT_SECRET } }, /requestBody\.oauth.*not a known field/],
      [{ clientSecret: CLIENT_SECRET }, /requestBody\.clientSecret.*not a known field/],
      [{ oauth2: { ...oauth2, tokenUrl: 'http://127.0.0.1:22/' } }, /oauth2\.tokenUrl.*port 22/],
    ];
    for (const [fields, why] of refusals) {
      const [status, text] = await call('POST', path, fields);
      expect([status, text]).toEqual([422, expect.stringMatching(why)]);
    }
    const both = { oauth2, headers: { authorization: 'a' }, webhookUrl: `${sink.url}/plain` };
    const [created] = await call('PUT', '/streams/evm', {
      ...both,
      description: '',
      tag: 'both',
      chainIds: [CHAIN],
    });
    expect(created).toBe(422);
    const wrong = { ...oauth2, clientId: 'unknown' };
    const [status, text] = await call('POST', path, { oauth2: wrong });
    expect([status, text]).toEqual([
      400,
      expect.stringMatching(
        /token request failed: HTTP 401 invalid_client; check oauth2\.clientId/,
      ),
    ]);

    await call('POST', path, { oauth2: null, webhookUrl: `${sink.url}/plain` });
    expect((await client.streams.get(id)).oauth2).toBeNull();
    expect(sink.requests.at(-1)!.headers).not.toHaveProperty('authorization');
    const [change] = await sluice.listStreamChanges(id);
    expect(change?.fields.toSorted()).toEqual(['oauth2', 'webhookUrl']);
    await call('POST', path, { oauth2: { tokenUrl, ...CREDENTIALS, audience: 'a' } });
    await expectNoSecrets();
  }, 60_000);
});
