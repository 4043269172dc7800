/**
 * Tests that no webhook URL reaches a service on this machine: a canary server there must never be
 * called.
 */
import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { type RemoteInfo, type Socket as UdpSocket, createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  ALL_NETWORKS,
  INSECURE_URL,
  METADATA_NETWORKS,
  type AddressGuard,
  createAddressGuard,
  isPublicAddress,
} from './guard.ts';
import { createHttpSender } from '../../send/httpSender.test-only.ts';

const PUBLIC = '93.184.216.34';

/** Number of requests to the canary, which listens on loopback, on an allowed port. */
let hits = 0;
const canary = createServer((_, response) => {
  hits++;
  response.end();
});
/** Server that redirects every request to the canary. */
const redirecting = createServer((request, response) => {
  const status = Number(request.url!.slice(1));
  response.writeHead(status, { location: `http://127.0.0.1:${portOf(canary)}/secrets` }).end();
});
const portOf = (server: Server): number => (server.address() as AddressInfo).port;

/** Addresses to return for each successive query, by name; the last list repeats. The TTL is 0. */
const NAMES: Record<string, string[][]> = {
  'loopback.test': [['127.0.0.1']],
  'loopback6.test': [['::1']],
  'mapped.test': [['::ffff:127.0.0.1']],
  'nat64.test': [['64:ff9b::7f00:1']],
  '6to4.test': [['2002:7f00:1::1']],
  'metadata.test': [['169.254.169.254']],
  'private.test': [['10.0.0.1']],
  'unspecified.test': [['0.0.0.0']],
  'mixed.test': [[PUBLIC, '127.0.0.1']],
  'mixed-last.test': [['127.0.0.1', PUBLIC]],
  'mixed-families.test': [[PUBLIC, '::1']],
  'rebinding.test': [[PUBLIC], ['127.0.0.1']],
  'rebinding6.test': [[PUBLIC], ['::1']],
  'flapping.test': [[PUBLIC], ['127.0.0.1'], [PUBLIC], ['127.0.0.1']],
};

let dns: UdpSocket;
const asked = new Map<string, number>();
beforeAll(async () => {
  canary.listen(0, '127.0.0.1');
  redirecting.listen(0, '127.0.0.1');
  dns = createSocket('udp4', (question: Buffer, from: RemoteInfo) =>
    dns.send(answerDns(question), from.port, from.address),
  );
  dns.bind(0, '127.0.0.1');
  await Promise.all([
    once(canary, 'listening'),
    once(redirecting, 'listening'),
    once(dns, 'listening'),
  ]);
});
afterAll(() => {
  expect(hits).toBe(0);
  canary.close();
  redirecting.close();
  dns.close();
});

const A = 1;
const AAAA = 28;

/** Builds the response of a name server (RFC 1035) from {@link NAMES}. */
function answerDns(question: Buffer): Buffer {
  const labels: string[] = [];
  let at = 12;
  for (let length = question[at]!; length > 0; length = question[at]!) {
    labels.push(question.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const type = question.readUInt16BE(at + 1);
  const name = labels.join('.');
  const script = NAMES[name] ?? [];
  // Queries are counted by type, so that the A and AAAA queries of a lookup get the same scripted
  // response.
  const turn = asked.get(`${name} ${type}`) ?? 0;
  asked.set(`${name} ${type}`, turn + 1);
  const addresses = (script[Math.min(turn, script.length - 1)] ?? []).filter(
    (address) => (type === AAAA) === address.includes(':') && (type === A || type === AAAA),
  );
  const header = Buffer.from(question.subarray(0, 12));
  header.writeUInt16BE(0x81_80, 2);
  header.writeUInt16BE(addresses.length, 6);
  header.fill(0, 8, 12);
  const records = addresses.map((address) => {
    const bytes = toBytes(address);
    const record = Buffer.alloc(12);
    record.writeUInt16BE(0xc0_0c, 0);
    record.writeUInt16BE(type, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt16BE(bytes.length, 10);
    return Buffer.concat([record, bytes]);
  });
  return Buffer.concat([header, question.subarray(12, at + 5), ...records]);
}

function toBytes(address: string): Buffer {
  if (!address.includes(':')) return Buffer.from(address.split('.').map(Number));
  const plain = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = '', tail = ''] = plain
    .split('::')
    .map((part) => part.split(':').filter(Boolean).join(':'));
  const groups = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const missing = 8 - groups(head).length - groups(tail).length;
  const all = [...groups(head), ...Array<string>(missing).fill('0'), ...groups(tail)];
  return Buffer.from(all.map((group) => group.padStart(4, '0')).join(''), 'hex');
}

/** Connects as undici does, and returns the error, if any. */
const connectBy = ({ connect }: AddressGuard, { protocol, hostname, port }: URL) =>
  new Promise<{ error: Error | null }>((resolve) => {
    connect({ protocol, hostname, port, host: hostname }, (error, socket) => {
      socket?.destroy();
      resolve({ error });
    });
  });

/** Resolves with the scripted name server. */
const resolve = async (name: string): Promise<LookupAddress[]> => {
  const resolver = new Resolver({ timeout: 1_000, tries: 1 });
  resolver.setServers([`127.0.0.1:${dns.address().port}`]);
  const [v4, v6] = await Promise.all([
    resolver.resolve4(name).catch(() => []),
    resolver.resolve6(name).catch(() => []),
  ]);
  if (v4.length + v6.length === 0) throw new Error('not found');
  return [
    ...v4.map((address) => ({ address, family: 4 })),
    ...v6.map((address) => ({ address, family: 6 })),
  ];
};

const guard = createAddressGuard({ allowCidrs: [], resolve });
const createTestSender = (of: typeof guard) =>
  createHttpSender({ guard: of, secret: () => 's', region: () => 'us-east-1', timeoutMs: 3_000 });

async function sendTo(url: string, of = guard) {
  const sender = createTestSender(of);
  try {
    return await sender.send({
      url,
      id: 'id',
      body: Buffer.from('{}'),
      headers: {},
      queueSize: 0,
      recordsCharged: 0,
    });
  } finally {
    await sender.close();
  }
}

const REFUSED = /is private, loopback or reserved|is not allowed: use/;

const LITERALS = [
  ...['127.0.0.1', '127.1', '127.0.1', '127.0.0.1.', '127.255.255.254', '2130706433'],
  ...['0x7f000001', '0x7f.1', '0x7f.0x0.0x0.0x1', '0177.0.0.1', '017700000001', '0177.1'],
  ...[
    '１２７.0.0.1',
    '127。0。0。1',
    '①②⑦.⓪.⓪.①',
    '%31%32%37.0.0.1',
    '127.0.\t0.1',
    '0',
    '0.0.0.0',
  ],
  ...['[::1]', '[::]', '[0:0:0:0:0:0:0:1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]'],
  ...['[0:0:0:0:0:ffff:7f00:1]', '[::127.0.0.1]', '[64:ff9b::7f00:1]', '[64:ff9b::127.0.0.1]'],
  ...['[64:ff9b:1::7f00:1]', '[2002:7f00:1::]', '[2001:0:7f00:1::]', '[fe80::1]', '[fc00::1]'],
  ...['[fec0::1]', '[ff02::1]', '[2001:db8::1]', '[100::1]'],
  ...['169.254.169.254', '2852039166', '0xa9fea9fe', '[::ffff:169.254.169.254]', '[fd00:ec2::254]'],
  // Metadata and internal addresses of clouds: Azure, IBM, Alibaba, Oracle, Tencent, ECS, Scaleway,
  // Google.
  ...['168.63.129.16', '2822734096', '0xa83f8110', '[::ffff:168.63.129.16]', '[::ffff:a83f:8110]'],
  ...['[64:ff9b::a83f:8110]', '[2002:a83f:8110::]', '161.26.0.10', '166.8.0.1', '100.100.100.200'],
  ...['192.0.0.192', '169.254.0.23', '169.254.170.2', '169.254.42.42', '[fd00:42::42]'],
  ...['[fd20:ce::254]', '[fe80::a9fe:a9fe]'],
  ...['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.0.1', '100.64.0.1', '198.18.0.1'],
  ...['192.0.2.1', '224.0.0.1', '240.0.0.1', '255.255.255.255'],
  ...['localhost', 'LOCALHOST', 'localhost.', 'a.localhost', 'printer.local'],
  ...['metadata.google.internal', 'user:password@127.0.0.1', 'example.org@127.0.0.1'],
  ...['example.org:80@127.0.0.1', '127.0.0.1\\@example.org'],
];

describe(`${LITERALS.length} spellings of an address`, () => {
  test.each(LITERALS)('%s: rejected on save and on send', async (host) => {
    // Uses the stored form, which the URL parser has normalized.
    const { href } = new URL(`http://${host}`.replace(/(?=[\\/]?$)/, ''));
    const url = new URL(href);
    url.port = String(portOf(canary));
    expect(await guard.refuseResolved(url)).toMatch(REFUSED);
    expect(guard.refuse(url)).toMatch(REFUSED);
    expect(await sendTo(url.href)).toMatchObject({
      status: null,
      error: expect.stringMatching(REFUSED) as string,
    });
    expect(hits).toBe(0);
  });
});

const BAD_PORTS = [
  0, 1, 21, 22, 23, 25, 53, 81, 110, 143, 445, 1_023, 2_375, 3_306, 5_432, 6_379, 6_443, 8_200,
  8_500, 9_090, 9_093, 10_257, 11_211, 15_672, 27_018,
];

describe(`${BAD_PORTS.length} ports that are not allowed for webhooks`, () => {
  test.each(BAD_PORTS)('%i: rejected on save and on send, for a public address', async (port) => {
    const url = `http://${PUBLIC}:${port}/`;
    expect(await guard.refuseResolved(new URL(url))).toMatch(/^port \d+ is not allowed: use/);
    expect((await sendTo(url)).error).toMatch(/^port \d+ is not allowed: use/);
  });

  test.each(['', ':80', ':443', ':1024', ':3000', ':8080', ':65535'])('%j is allowed', (port) => {
    expect(guard.refuse(new URL(`https://${PUBLIC}${port}/`))).toBeUndefined();
  });
});

describe('metadata services and link-local addresses', () => {
  const strict = createAddressGuard({ allowCidrs: ALL_NETWORKS, denyCidrs: METADATA_NETWORKS });

  test.each([
    ...['169.254.169.254', '2852039166', '0xa9fea9fe', '0251.0376.0251.0376', '169.254.1'],
    ...['[::ffff:169.254.169.254]', '[::ffff:a9fe:a9fe]', '[::169.254.169.254]'],
    ...['[64:ff9b::a9fe:a9fe]', '[2002:a9fe:a9fe::1]', '[fe80::1]', '[fd00:ec2::254]'],
    ...['100.100.100.200', '168.63.129.16', '192.0.0.192', '[fd20:ce::254]'],
  ])('%s is rejected even if every network is allowed', async (host) => {
    const url = new URL(`http://${host}:8545/`);
    const refused = /is link-local or a metadata service: use another address$/;
    expect(strict.refuse(url)).toMatch(refused);
    const { error } = await connectBy(strict, url);
    expect(error?.message).toMatch(refused);
  });

  test('a name that resolves to one of them is rejected', async () => {
    const named = createAddressGuard({
      allowCidrs: ALL_NETWORKS,
      denyCidrs: METADATA_NETWORKS,
      resolve,
    });
    const { error } = await connectBy(named, new URL('http://metadata.test:8545/'));
    expect(error?.message).toMatch(/is link-local or a metadata service: use another address$/);
  });

  test('other private addresses are allowed', () => {
    for (const host of ['10.0.0.1', '127.0.0.1', '[fd00::1]', '[64:ff9b::7f00:1]']) {
      expect(strict.refuse(new URL(`http://${host}:8545/`))).toBeUndefined();
    }
  });
});

test('httpsOnly rejects http: URLs on save and on send, and no https: URLs', async () => {
  const own = createAddressGuard({ allowCidrs: ALL_NETWORKS, httpsOnly: true });
  expect(own.refuse(new URL(`http://${PUBLIC}/`))).toBe(INSECURE_URL);
  expect(await own.refuseResolved(new URL(`http://${PUBLIC}/`))).toBe(INSECURE_URL);
  expect(own.refuse(new URL(`HTTPS://${PUBLIC}/`))).toBeUndefined();
});

const names = Object.keys(NAMES);
const turning = names.filter((name) => NAMES[name]!.length > 1);

describe(`${names.length} names of a lying name server`, () => {
  test.each(names.filter((name) => !turning.includes(name)))(
    '%s: rejected on save and on send',
    async (name) => {
      const url = `http://${name}:${portOf(canary)}/`;
      expect(await guard.refuseResolved(new URL(url))).toMatch(REFUSED);
      expect((await sendTo(url)).error).toMatch(REFUSED);
      expect(hits).toBe(0);
    },
  );

  test.each(turning)('%s: an address that changes after the save is rejected', async (name) => {
    const url = `http://${name}:${portOf(canary)}/`;
    expect(await guard.refuseResolved(new URL(url))).toBeUndefined();
    expect((await sendTo(url)).error).toMatch(REFUSED);
    expect(hits).toBe(0);
  });

  test('a name without a response is accepted on save, and fails on send', async () => {
    expect(await guard.refuseResolved(new URL('http://none.test/'))).toBeUndefined();
    expect((await sendTo('http://none.test/')).error).toMatch(/not found/);
  });

  test('a name without a timely response is accepted on save', async () => {
    const silent = createAddressGuard({ allowCidrs: [], resolve: () => new Promise(() => {}) });
    expect(await silent.refuseResolved(new URL('http://silent.test/'))).toBeUndefined();
  });
});

describe('redirects', () => {
  test.each([301, 302, 303, 307, 308])(
    '%i to the canary is a failure, not followed',
    async (status) => {
      const open = createAddressGuard({ allowCidrs: ALL_NETWORKS });
      const result = await sendTo(`http://127.0.0.1:${portOf(redirecting)}/${status}`, open);
      expect(result).toMatchObject({
        status,
        error: expect.stringMatching(/redirects are not followed/) as string,
      });
      expect(hits).toBe(0);
    },
  );
});

/** The first and last address of each network that is not public, by the registries of IANA. */
const NETWORKS = [
  ...['0.0.0.0-0.255.255.255', '10.0.0.0-10.255.255.255', '100.64.0.0-100.127.255.255'],
  ...['127.0.0.0-127.255.255.255', '169.254.0.0-169.254.255.255', '172.16.0.0-172.31.255.255'],
  ...['192.0.0.0-192.0.0.255', '192.0.2.0-192.0.2.255', '192.88.99.0-192.88.99.255'],
  ...['192.168.0.0-192.168.255.255', '198.18.0.0-198.19.255.255', '198.51.100.0-198.51.100.255'],
  ...['203.0.113.0-203.0.113.255', '224.0.0.0-255.255.255.255', '2001:db8::-2001:db8:ffff::'],
  ...['::-1fff:ffff::', '2001::-2001:1ff:ffff::', '2002::-2002:ffff::', '3fff::-3fff:fff:ffff::'],
  '4000::-ffff:ffff::',
];
/** Public addresses next to these networks. */
const NEIGHBORS = [
  ...['1.0.0.0', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255'],
  ...['128.0.0.0', '169.253.255.255', '169.255.0.0', '172.15.255.255', '172.32.0.0'],
  ...['191.255.255.255', '192.0.1.0', '192.0.3.0', '192.88.98.255', '192.88.100.0'],
  ...['192.167.255.255', '192.169.0.0', '198.17.255.255', '198.20.0.0', '198.51.99.255'],
  ...['198.51.101.0', '203.0.112.255', '203.0.114.0', '223.255.255.255', '2000::'],
  ...['2001:200::', '2001:db7:ffff::', '2001:db9::', '2001:ffff::', '2003::', '3ffe:ffff::'],
  '3fff:1000::',
];

test('the limits of each network that is not public are exact', () => {
  const ends = NETWORKS.flatMap((network) => network.split('-'));
  expect(ends.filter(isPublicAddress)).toEqual([]);
  expect(NEIGHBORS.filter((address) => !isPublicAddress(address))).toEqual([]);
});

describe('allowed addresses', () => {
  test.each([
    ['8.8.8.8', true],
    ['172.32.0.1', true],
    ['2606:4700:4700::1111', true],
    ['::ffff:8.8.8.8', true],
    ['::ffff:10.0.0.1', false],
    ['fe80::1%eth0', false],
    ['not an address', false],
    ['', false],
  ])('%s is public: %s', (address, expected) => {
    expect(isPublicAddress(address)).toBe(expected);
  });

  test('include the networks of the operator, and no others', async () => {
    const own = createAddressGuard({ allowCidrs: ['10.1.0.0/16', '127.0.0.1/32'] });
    for (const [host, isAllowed] of [
      ['10.1.2.3', true],
      ['[::ffff:10.1.2.3]', true],
      ['10.2.0.1', false],
      ['127.0.0.1', true],
      ['127.0.0.2', false],
      ['[::1]', false],
      ['169.254.169.254', false],
    ] as const) {
      const refused = own.refuse(new URL(`http://${host}/`));
      expect(refused === undefined, host).toBe(isAllowed);
    }
    const answer = await sendTo(`http://127.0.0.1:${portOf(redirecting)}/204`, own);
    expect(answer).toMatchObject({ status: 204, error: null });
  });

  test('include NAT64 depending on the embedded address', () => {
    const own = createAddressGuard({ allowCidrs: ['64:ff9b::/96', '10.0.0.0/8'] });
    const mayReach = (host: string): boolean =>
      own.refuse(new URL(`http://${host}/`)) === undefined;
    expect(['[64:ff9b::808:808]', '[64:ff9b::a00:1]'].map(mayReach)).toEqual([true, true]);
    expect(['[64:ff9b::7f00:1]', '[64:ff9b::a9fe:a9fe]', '[64:ff9b::]'].map(mayReach)).toEqual([
      false,
      false,
      false,
    ]);
  });

  test('are enforced with a report of where each rejection happened', async () => {
    const places: string[] = [];
    const reportingGuard = createAddressGuard({
      allowCidrs: [],
      resolve,
      onBlocked: (place) => places.push(place),
    });
    reportingGuard.refuse(new URL('http://127.0.0.1/'));
    await reportingGuard.refuseResolved(new URL('http://loopback.test/'));
    reportingGuard.refuse(new URL(`http://${PUBLIC}:22/`));
    expect(places).toEqual(['url', 'lookup', 'port']);
  });
});
