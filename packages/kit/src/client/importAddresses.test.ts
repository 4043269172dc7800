import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { isSluiceError } from '../errors.ts';
import { createSluiceClient } from './sluice.ts';

const toAddress = (n: number): string => `0x${n.toString(16).padStart(40, '0')}`;
const listed = (count: number) =>
  Array.from({ length: count }, (_, n) => ({
    address: toAddress(n),
    ...(n % 3 === 0 && { label: `label ${n}` }),
  }));

interface Sent {
  address: string[];
  labels?: Record<string, string>;
}

/**
 * Starts a service that stores addresses.
 * @param fail returns whether a request fails before or after it is processed; undefined if it
 * succeeds.
 */
function startService(fail: (request: number) => 'before' | 'after' | undefined = () => undefined) {
  const kept = new Map<string, string>();
  const parts: Sent[] = [];
  const urls = new Set<string>();
  let count = 0;
  const fetch = async (request: Request | URL | string, init?: RequestInit): Promise<Response> => {
    const failure = fail(count++);
    if (failure === 'before') throw new TypeError('fetch failed');
    const asked = new Request(request, init);
    const body = (await asked.json()) as Sent;
    urls.add(`${asked.method} ${new URL(asked.url).pathname}`);
    parts.push(body);
    for (const address of body.address) {
      kept.set(address, body.labels?.[address] ?? kept.get(address) ?? '');
    }
    // The request was processed, but the response is lost.
    if (failure === 'after') throw new TypeError('fetch failed');
    return Response.json({ streamId: 's', ...body });
  };
  const client = createSluiceClient({
    baseUrl: 'http://sluice',
    apiKey: 'k',
    maxRetries: 0,
    fetch,
  });
  return { client, kept, parts, urls };
}

it('importAddresses sends addresses in order, in growing parts while requests are fast, and reports progress', async () => {
  const { client, parts, urls } = startService();
  const addresses = listed(20_000);
  const reported: number[] = [];
  await client.importAddresses({
    streamId: 's',
    family: 'evm',
    addresses,
    onProgress: (done) => reported.push(done),
  });
  expect([...urls]).toEqual(['POST /streams/evm/s/address']);
  expect(parts.flatMap(({ address }) => address)).toEqual(addresses.map(({ address }) => address));
  const sizes = parts.map(({ address }) => address.length);
  expect(sizes[0]).toBe(500);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(5_000);
  expect(reported).toEqual(sizes.map((_, n) => sizes.slice(0, n + 1).reduce((a, b) => a + b)));
});

it('importAddresses sends smaller parts to a slow service', async () => {
  const { client, parts } = startService();
  // Each request appears to take ten seconds.
  let now = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 10_000));
  await client.importAddresses({ streamId: 's', family: 'evm', addresses: listed(800) });
  clock.mockRestore();
  expect(parts.map(({ address }) => address.length)).toEqual([500, 100, 100, 100]);
});

it('importAddresses pads Aptos addresses with zeros', async () => {
  const { client, parts, urls } = startService();
  const addresses = [{ address: '0x1', label: 'framework' }];
  await client.importAddresses({ streamId: 's', family: 'aptos', addresses });
  expect([...urls]).toEqual(['POST /streams/aptos/s/address']);
  const framework = `0x${'1'.padStart(64, '0')}`;
  expect(parts).toEqual([{ address: [framework], labels: { [framework]: 'framework' } }]);
});

it('importAddresses rejects an invalid address and does not send its part', async () => {
  const { client, parts } = startService();
  const addresses = [{ address: toAddress(1) }, { address: '0x12' }];
  const sent = client.importAddresses({ streamId: 's', family: 'evm', addresses });
  await expect(sent).rejects.toMatchObject({
    code: 'invalid_argument',
    message: expect.stringContaining('"0x12"') as string,
  });
  expect(parts).toEqual([]);
});

it('property: despite any failures, resuming adds each address and no others', async () => {
  const failures = fc.array(fc.constantFrom(undefined, 'before', 'after'), { maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(fc.nat(3_000), failures, async (count, plan) => {
      const { client, kept } = startService((request) => plan[request]);
      const addresses = listed(count);
      let from = 0;
      for (let isIn = false; !isIn;) {
        try {
          await client.importAddresses({
            streamId: 's',
            family: 'evm',
            addresses,
            from,
            onProgress: (done) => (from = done),
          });
          isIn = true;
        } catch (error) {
          if (!isSluiceError(error, 'network_error')) throw error;
        }
      }
      expect([...kept]).toEqual(addresses.map(({ address, label = '' }) => [address, label]));
    }),
    { numRuns: 30 },
  );
});
