/** Tests that names whose servers are silent do not delay the lookups of other names. */
import type { LookupAddress } from 'node:dns';
import { expect, test, vi } from 'vitest';
import { createNameResolver, namesToQuery } from './resolveName.ts';

type Callback = (error: Error | null, addresses?: LookupAddress[]) => void;

const FOUND = [{ address: '93.184.216.34', family: 4 }];
const QUERIED = [{ address: '93.184.216.35', family: 4 }];

/**
 * A system resolver that knows every name except `unknown…`, and is silent about `silent…` until
 * `answer` is called.
 */
function createSystem() {
  const asked: string[] = [];
  const silent: (() => void)[] = [];
  const lookup = ((name: string, _: object, callback: Callback) => {
    asked.push(name);
    if (name.startsWith('silent')) silent.push(() => callback(null, FOUND));
    else if (name.startsWith('unknown')) callback(new Error('ENOTFOUND'));
    else callback(null, FOUND);
  }) as never;
  return { asked, lookup, answer: () => silent.splice(0).forEach((each) => each()) };
}

/** Name servers that know only the names that start with `public`. */
const query = vi.fn(async (name: string) => {
  if (name.startsWith('public')) return QUERIED;
  throw new Error('SERVFAIL');
});

test('names are resolved by the system, and the name servers are not queried', async () => {
  const { lookup } = createSystem();
  query.mockClear();
  const resolve = createNameResolver({ lookup, query });
  expect(await resolve('public.test', {})).toEqual(FOUND);
  await expect(resolve('unknown.test', {})).rejects.toThrow('ENOTFOUND');
  const names = Array.from({ length: 64 }, (_, n) => `public${n}.test`);
  for (const found of await Promise.all(names.map((name) => resolve(name, {})))) {
    expect(found).toEqual(FOUND);
  }
  expect(query).not.toHaveBeenCalled();
});

test('silent names occupy one lookup of the system, and other names are resolved by queries', async () => {
  const { lookup, asked, answer } = createSystem();
  const resolve = createNameResolver({ lookup, query });
  const silent = Array.from({ length: 64 }, (_, n) => resolve(`silent${n % 8}.test`, {}));
  const ends = Promise.allSettled(silent);
  const began = performance.now();
  expect(await resolve('public.test', {})).toEqual(QUERIED);
  expect(performance.now() - began).toBeLessThan(1_500);
  expect(asked).toEqual(['silent0.test']);
  // Those that wait for the system longer than any caller leave the queue.
  await Promise.allSettled(silent.filter((_, n) => n % 8 > 0));
  answer();
  const results = await ends;
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(8);
  expect(results[1]).toMatchObject({
    reason: { message: 'the name silent1.test was not resolved within 3 s', code: 'ETIMEOUT' },
  });
  expect(await resolve('public.test', {})).toEqual(FOUND);
  expect(asked).toEqual(['silent0.test', 'public.test']);
});

test('a name that only the system knows is resolved once the system is free again', async () => {
  const { lookup, answer } = createSystem();
  const resolve = createNameResolver({ lookup, query });
  query.mockClear();
  const silent = resolve('silent.test', {});
  const own = resolve('own', {});
  await vi.waitFor(() => expect(query).toHaveBeenCalledWith('own'));
  answer();
  expect(await Promise.all([silent, own])).toEqual([FOUND, FOUND]);
});

test('a name in the hosts file resolves to its address while the system is silent', async () => {
  const { lookup } = createSystem();
  const resolve = createNameResolver({ lookup });
  void resolve('silent.test', {}).catch(() => {});
  expect(await resolve('localhost', {})).toContainEqual({ address: '127.0.0.1', family: 4 });
});

test.each([
  ['app.shop', ['app.shop.shop.svc.cluster.local', 'app.shop.cluster.local', 'app.shop']],
  ['app.shop.', ['app.shop.']],
  [
    'a.b.c.d.e.example',
    [
      'a.b.c.d.e.example',
      'a.b.c.d.e.example.shop.svc.cluster.local',
      'a.b.c.d.e.example.cluster.local',
    ],
  ],
])('the name %s is queried with the search domains of a pod', (name, queried) => {
  const file =
    'nameserver 10.96.0.10\nsearch shop.svc.cluster.local cluster.local\noptions ndots:5\n';
  expect(namesToQuery(name, file)).toEqual(queried);
});

test('a name is queried as it is without search domains, and first if it has a dot', () => {
  expect(namesToQuery('receiver.example', '')).toEqual(['receiver.example']);
  expect(namesToQuery('receiver.example', 'search lan')).toEqual([
    'receiver.example',
    'receiver.example.lan',
  ]);
  expect(namesToQuery('receiver', 'search lan')).toEqual(['receiver.lan', 'receiver']);
});
