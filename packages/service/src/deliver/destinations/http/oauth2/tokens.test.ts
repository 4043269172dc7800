/** Tests access tokens against real token endpoints, including hostile ones. */
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { type TLSSocket, getCACertificates, setDefaultCACertificates } from 'node:tls';
import { type WebhookSink, createCertificate, startWebhookSink } from '@sluice/testkit';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { ALL_NETWORKS, createAddressGuard } from '../guard.ts';
import { createIsolation } from '../../../send/isolation.ts';
import { createHttpSender } from '../../../send/httpSender.test-only.ts';
import type { Sender } from '../../../send/send.ts';
import { createTokens } from './tokens.ts';

const CLIENT_SECRET = 'p+s:s%20 word';
const CREDENTIALS = { clientId: 'client:1', clientSecret: CLIENT_SECRET };
const BASIC = `Basic ${Buffer.from('client%3A1:p%2Bs%3As%2520+word').toString('base64')}`;

interface Asked {
  authorization: string | undefined;
  form: Record<string, string>;
}

let sink: WebhookSink;
let sender: Sender;
let asked: Asked[] = [];
let respond: (response: ServerResponse, asked: Asked) => void;
let tokenUrl: string;

const issue = (response: ServerResponse, fields: object = {}, status = 200): void => {
  const token = `token-${asked.length}`;
  const body = { access_token: token, token_type: 'Bearer', expires_in: 3_600, ...fields };
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};

async function receiveForm(request: IncomingMessage): Promise<Asked> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk as string;
  const { authorization } = request.headers;
  return { authorization, form: Object.fromEntries(new URLSearchParams(text)) };
}

const tokenServer = createServer((request, response) => {
  void receiveForm(request).then((each) => {
    asked.push(each);
    respond(response, each);
  });
});

type Options = Partial<Parameters<typeof createHttpSender>[0]>;

const createOther = (options: Options = {}): Sender =>
  createHttpSender({
    guard: createAddressGuard({ allowCidrs: ALL_NETWORKS }),
    secret: () => 'a streams secret',
    region: () => 'us-east-1',
    timeoutMs: 4_500,
    ...options,
  });

beforeAll(async () => {
  sink = await startWebhookSink();
  await new Promise<void>((resolve) => {
    tokenServer.listen(0, '127.0.0.1', resolve);
  });
  tokenUrl = `http://127.0.0.1:${(tokenServer.address() as AddressInfo).port}/token`;
});
afterEach(async () => {
  await sender?.close();
  sink.clear();
  sink.respond(200);
  asked = [];
});
afterAll(async () => {
  tokenServer.close();
  tokenServer.closeAllConnections();
  await sink.close();
});

function start(options?: Options): void {
  respond = (response) => issue(response);
  sender = createOther(options);
}

const sendingOf = (streamId = 'stream', credentials: object = {}, url = `${sink.url}/hook`) => ({
  url,
  id: crypto.randomUUID(),
  body: Buffer.from('{}'),
  headers: {},
  queueSize: 0,
  recordsCharged: 0,
  oauth2: { streamId, credentials: { tokenUrl, ...CREDENTIALS, ...credentials } },
});
const send = (...given: Parameters<typeof sendingOf>) => sender.send(sendingOf(...given));
const sentTokens = () => sink.requests.map(({ headers }) => headers['authorization']);

test('the token client requests a token with Basic authentication, and reuses it', async () => {
  start();
  const credentials = { scope: 'hooks:write a', audience: 'https://api.example' };
  for (let n = 0; n < 3; n++) expect((await send('s', credentials)).error).toBeNull();
  expect(asked).toEqual([
    { authorization: BASIC, form: { grant_type: 'client_credentials', ...credentials } },
  ]);
  expect(sentTokens()).toEqual(Array(3).fill('Bearer token-1'));
});

test('the token client sends the credentials in the body to a server that rejects the header', async () => {
  for (const [status, error] of [
    [401, 'access_denied'],
    [400, 'invalid_client'],
    [400, 'invalid_request'],
  ] as const) {
    start();
    asked = [];
    respond = (response, { authorization }) => {
      if (authorization === undefined) issue(response, { expires_in: 0 });
      else issue(response, { error }, status);
    };
    expect((await send()).error).toBeNull();
    const form = {
      grant_type: 'client_credentials',
      client_id: CREDENTIALS.clientId,
      client_secret: CLIENT_SECRET,
    };
    expect(asked).toHaveLength(2);
    expect(asked[1]).toEqual({ authorization: undefined, form });
    // The next request begins with the place that worked.
    expect((await send()).error).toBeNull();
    expect(asked[2]).toEqual(asked[1]);
    expect(asked).toHaveLength(3);
    await sender.close();
  }
});

test('the token client explains why both places were rejected, and tries no other problem twice', async () => {
  start();
  respond = (response) => issue(response, { error: 'invalid_client' }, 401);
  expect((await send()).error).toBe(
    'token request failed: HTTP 401 invalid_client; check oauth2.clientId and oauth2.clientSecret',
  );
  expect(asked).toHaveLength(2);
  respond = (response) => issue(response, { error: 'invalid_scope' }, 400);
  expect((await send()).error).toBe('token request failed: HTTP 400 invalid_scope');
  expect(asked).toHaveLength(3);
});

test('the token client makes one request at a time per stream and credentials', async () => {
  start();
  respond = (response) => void setTimeout(() => issue(response), 50);
  const results = await Promise.all(Array.from({ length: 20 }, () => send()));
  expect(results.map(({ error }) => error)).toEqual(Array(20).fill(null));
  expect(asked).toHaveLength(1);
  // Another stream, and other credentials of the same stream, have their own tokens.
  await Promise.all([send('other'), send('stream', { scope: 'a' }), send()]);
  expect(asked).toHaveLength(3);
});

test.each([
  [{ expires_in: 3 }, 3],
  [{ expires_in: '3' }, 3],
  [{ expires_in: 0 }, 0],
])('the token client renews a token before it expires: %j', async (fields, seconds) => {
  start();
  respond = (response) => issue(response, fields);
  await send();
  if (seconds > 0) {
    await send();
    expect(asked).toHaveLength(1);
    // A tenth before the end.
    await new Promise((resolve) => setTimeout(resolve, seconds * 950));
  }
  await send();
  expect(asked).toHaveLength(2);
  expect(sentTokens().at(-1)).toBe('Bearer token-2');
});

test('a 401 discards a cached token, and one repeat gets a new one', async () => {
  start();
  await send();
  let refused = 0;
  sink.respond(({ headers }) => {
    if (headers['authorization'] !== 'Bearer token-1') return 200;
    refused++;
    return 401;
  });
  expect(await send()).toMatchObject({ status: 200, error: null });
  expect([refused, asked.length]).toEqual([1, 2]);
  // Attempts whose requests crossed share the new token.
  sink.respond(({ headers }) => (headers['authorization'] === 'Bearer token-2' ? 401 : 200));
  const results = await Promise.all(Array.from({ length: 10 }, () => send()));
  expect(results.every(({ status }) => status === 200)).toBe(true);
  expect(asked).toHaveLength(3);
});

test('a 401 for a new token fails the attempt, and the next one requests another', async () => {
  start();
  sink.respond(401);
  for (const n of [1, 2, 3]) {
    expect(await send()).toMatchObject({ status: 401, error: 'HTTP 401' });
    expect([asked.length, sink.requests.length]).toEqual([n, n]);
  }
});

const json = (fields: object) => (response: ServerResponse) => issue(response, fields);
const SECRETS = [CLIENT_SECRET, BASIC.slice(6), 'token-1'];

test.each<[string, string, (response: ServerResponse) => void]>([
  ['HTML', 'is not a JSON object', (r) => void r.end('<html>Sign in</html>')],
  ['a list', 'is not a JSON object', (r) => void r.end('[]')],
  ['nothing', 'is not a JSON object', (r) => void r.end()],
  [
    '10 MB',
    'exceeds 64 KiB',
    (r) => void r.end(`{"token_type":"Bearer","access_token":"a","x":"${'a'.repeat(1e7)}"}`),
  ],
  [
    'just over 64 KiB',
    'exceeds 64 KiB',
    (r) => void r.end(`{"access_token":"a","token_type":"Bearer"}${' '.repeat(64 * 1024)}`),
  ],
  ['an endless response', 'no complete response within 3 s', (r) => void r.write('{')],
  ['silence', 'no complete response within 3 s', () => {}],
  [
    'a redirect',
    'HTTP 302: redirects are not followed; set oauth2.tokenUrl',
    (r) => void r.writeHead(302, { location: `${sink.url}/elsewhere` }).end(),
  ],
  ['an error of its own', 'HTTP 500', (r) => issue(r, { error: CLIENT_SECRET }, 500)],
  [
    'the secret as an error code',
    'HTTP 400',
    (r) => issue(r, { error: CLIENT_SECRET, error_description: CLIENT_SECRET }, 400),
  ],
  ['another type', 'token_type of the response is not Bearer', json({ token_type: 'mac' })],
  ['no type', 'token_type of the response is not Bearer', json({ token_type: undefined })],
  ['no token', 'has no access_token', json({ access_token: undefined })],
  ['a number', 'has no access_token', json({ access_token: 7 })],
  ['line breaks', 'characters that a header', json({ access_token: 'a\r\nx-evil: 1' })],
  ['NUL', 'characters that a header', json({ access_token: 'a\0' })],
  ['spaces', 'characters that a header', json({ access_token: 'a b' })],
  ['a long token', 'exceeds 8192 characters', json({ access_token: 'a'.repeat(8193) })],
  ['a reset', 'token request failed: ', (r) => void r.socket!.destroy()],
])('%s from the token endpoint fails the attempt', async (_, why, hostile) => {
  start();
  respond = hostile;
  const result = await send();
  expect(result).toMatchObject({ status: null, responseBody: '', transport: null });
  expect(result.error).toContain('token request failed: ');
  expect(result.error).toContain(why);
  for (const secret of SECRETS) expect(JSON.stringify(result)).not.toContain(secret);
  expect(sink.requests).toEqual([]);
  // The next attempt tries again, and other streams are not affected.
  respond = (response) => issue(response);
  expect((await send()).error).toBeNull();
});

test('no response text ends up in a result or in a header', async () => {
  start();
  const values = fc.oneof(fc.string({ unit: 'binary' }), fc.integer(), fc.constant(null));
  await fc.assert(
    fc.asyncProperty(values, values, fc.jsonValue(), async (token, type, expires) => {
      respond = json({ access_token: token, token_type: type, expires_in: expires });
      const { error } = await send(crypto.randomUUID());
      const isValid =
        typeof token === 'string' &&
        /^[\x21-\x7e]+$/.test(token) &&
        String(type).toLowerCase() === 'bearer';
      if (isValid) expect(error).toBeNull();
      else expect(error).toMatch(/^token request failed: the [\w ]+/);
    }),
    { numRuns: 100 },
  );
});

test('a slow token endpoint delays no other stream', async () => {
  start();
  respond = (response, { form }) => {
    if (form['scope'] !== 'slow') issue(response);
  };
  let isSlowEnded = false;
  const slow = send('slow', { scope: 'slow' }).finally(() => (isSlowEnded = true));
  expect((await send('fast')).error).toBeNull();
  expect(isSlowEnded).toBe(false);
  expect((await slow).error).toContain('no complete response');
});

test('the token client guards the addresses and the scheme of token URLs', async () => {
  start({ guard: createAddressGuard({ allowCidrs: ['127.0.0.0/8'], httpsOnly: false }) });
  const blocked = await send('s', { tokenUrl: 'http://10.0.0.1/token' });
  expect(blocked.error).toMatch(/^token request failed: the address 10.0.0.1 is private/);
  await sender.close();
  start({
    guard: createAddressGuard({
      allowCidrs: ['127.0.0.1/32'],
      resolve: async () => [{ address: '127.0.0.2', family: 4 }],
    }),
  });
  const named = await send('s', { tokenUrl: tokenUrl.replace('127.0.0.1', 'tokens.example') });
  expect(named.error).toMatch(/^token request failed: .*127.0.0.2 is private/);
  await sender.close();
  start({ guard: createAddressGuard({ allowCidrs: ALL_NETWORKS, httpsOnly: true }) });
  const plain = await send('s', {}, 'https://127.0.0.1:8443/');
  expect(plain.error).toMatch(/^token request failed: http: is not allowed/);
  expect(asked).toEqual([]);
});

test('the token client uses the egress proxy and the client certificate', async () => {
  const tunnels: string[] = [];
  const proxy = createServer().on('connect', ({ url }: IncomingMessage, client: TLSSocket) => {
    tunnels.push(url!);
    const { hostname, port } = new URL(`http://${url}`);
    const target = connect(Number(port), hostname, () => {
      client.write('HTTP/1.1 200 Connected\r\n\r\n');
      target.pipe(client).pipe(target);
    });
    for (const each of [client, target]) each.on('error', () => {});
  });
  const validity = { validFrom: new Date(0), expiresAt: new Date(Date.now() + 1e9) };
  const authority = createCertificate({ commonName: 'CA', isAuthority: true, ...validity });
  const [own, clientCertificate] = ['localhost', 'client'].map((commonName) =>
    createCertificate({ commonName, names: ['localhost'], issuer: authority, ...validity }),
  );
  const names: string[] = [];
  const secure = createTlsServer(
    { cert: own!.cert, key: own!.key, requestCert: true, ca: authority.cert },
    (request, response) => {
      names.push(String((request.socket as TLSSocket).getPeerCertificate().subject.CN));
      request.resume();
      issue(response);
    },
  );
  const ports = await Promise.all(
    [proxy, secure].map(async (server) => {
      await new Promise<void>((resolve) => {
        server.listen(0, '127.0.0.1', resolve);
      });
      return (server.address() as AddressInfo).port;
    }),
  );
  const trusted = getCACertificates('default');
  setDefaultCACertificates([...trusted, authority.cert]);
  try {
    start({
      egressProxy: `http://127.0.0.1:${ports[0]}`,
      clientCertificate: { read: () => clientCertificate },
    });
    const result = await send('s', { tokenUrl: `https://localhost:${ports[1]}/token` });
    expect(result.error).toBeNull();
    expect(names).toEqual(['client']);
    expect(tunnels).toEqual([`localhost:${ports[1]}`, new URL(sink.url).host]);
  } finally {
    setDefaultCACertificates(trusted);
    for (const server of [proxy, secure]) {
      server.close();
      server.closeAllConnections();
    }
  }
});

test('the token client hides the token in a response that repeats it', async () => {
  start();
  sink.respond({ status: 200, body: 'got Bearer token-1' });
  expect((await send()).responseBody).toBe('got Bearer ***');
  // A response that is cut within the token.
  respond = json({ access_token: 'a-token-of-the-receiver' });
  sink.respond({ status: 200, body: `${'.'.repeat(4096 - 20)}a-token-of-the-receiver` });
  expect((await send('cut')).responseBody).toMatch(/\.\*\*\*$/);
});

test('the token client works in an isolated sender', async () => {
  start();
  const isolation = createIsolation({
    allowCidrs: ALL_NETWORKS,
    secret: () => 'secret',
    region: () => 'us-east-1',
  });
  try {
    await isolation.start();
    for (let n = 0; n < 2; n++) {
      expect(await isolation.send(sendingOf(), () => {})).toMatchObject({ status: 200 });
    }
    expect(asked).toHaveLength(1);
    respond = (response) => void response.end('<html>');
    const failed = await isolation.send(sendingOf('other'), () => {});
    expect(failed.error).toContain('token request failed: ');
  } finally {
    await isolation.close();
  }
});

test('an exhausted resource of this process leaves the webhook unsent', async () => {
  const resolve = () =>
    Promise.reject(Object.assign(new Error('no file descriptors'), { code: 'EMFILE' }));
  start({ guard: createAddressGuard({ allowCidrs: ALL_NETWORKS, resolve }) });
  const { localFailure } = await send('s', { tokenUrl: 'http://tokens.example/' });
  expect(localFailure).toEqual({ cause: 'EMFILE', isSent: false });
});

test.each([
  [undefined, 5 * 60],
  ['soon', 5 * 60],
  [-1, 5 * 60],
  [Number.MAX_VALUE, 24 * 3_600],
  [3_600, 3_600],
])('a token with expires_in %s is renewed 30 s before %i s', async (expires, seconds) => {
  vi.useFakeTimers({ toFake: ['performance'] });
  let requests = 0;
  const body = { access_token: 'a', token_type: 'bearer', expires_in: expires };
  const response = { status: 200, failure: null, localFailure: undefined, isCut: false };
  const tokens = createTokens({
    post() {
      requests++;
      return Promise.resolve({ ...response, responseBody: JSON.stringify(body) });
    },
    timeoutMs: 1_000,
  });
  const { oauth2 } = sendingOf();
  await tokens.obtain(oauth2);
  vi.advanceTimersByTime((seconds - 30) * 1_000 - 1);
  await tokens.obtain(oauth2);
  expect(requests).toBe(1);
  vi.advanceTimersByTime(1);
  await tokens.obtain(oauth2);
  expect(requests).toBe(2);
  vi.useRealTimers();
});
