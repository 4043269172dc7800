import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAddressGuard, isPublicAddress } from './guard.ts';

let hits = 0;
const canary = createServer((_, response) => {
  hits++;
  response.end();
});
beforeAll(() => new Promise<void>((resolve) => canary.listen(0, '127.0.0.1', resolve)));
afterAll(() => canary.close());
const port = (): number => (canary.address() as AddressInfo).port;

describe('address guard', () => {
  const guard = createAddressGuard({ allowPrivate: false });

  test.each([
    ['127.0.0.1', false],
    ['10.1.2.3', false],
    ['172.31.0.1', false],
    ['192.168.1.1', false],
    ['169.254.169.254', false],
    ['100.64.0.1', false],
    ['0.0.0.0', false],
    ['224.0.0.1', false],
    ['255.255.255.255', false],
    ['::1', false],
    ['::', false],
    ['::ffff:127.0.0.1', false],
    ['64:ff9b::7f00:1', false],
    ['2002:7f00:1::', false],
    ['fc00::1', false],
    ['fe80::1%eth0', false],
    ['[2001:db8::1]', false],
    ['8.8.8.8', true],
    ['172.32.0.1', true],
    ['2606:4700:4700::1111', true],
    ['not an address', false],
  ])('%s public: %s', (address, expected) => {
    expect(isPublicAddress(address)).toBe(expected);
  });

  test.each([
    '127.0.0.1',
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '127.1',
    '[::1]',
    '[::ffff:7f00:1]',
    '１２７.0.0.1',
    'localhost',
    'localhost.',
    'a.localhost',
  ])('refuses %s at save and at connect, however it is spelled', async (host) => {
    const url = new URL(`http://${host}:${port()}/`);
    expect(guard.refuse(url)).toContain('--allow-private-endpoints');
    const pool = new Pool(url.origin, { connect: guard.connect });
    await expect(pool.request({ method: 'POST', path: '/' })).rejects.toThrow(
      /private|reserved|ENOTFOUND/,
    );
    await pool.destroy();
    expect(hits).toBe(0);
  });

  test('lets a public literal pass at save', () => {
    expect(guard.refuse(new URL('https://93.184.216.34/hook'))).toBeUndefined();
    expect(guard.refuse(new URL('https://example.org/hook'))).toBeUndefined();
  });

  test('allows loopback when told to', async () => {
    const open = createAddressGuard({ allowPrivate: true });
    expect(open.refuse(new URL('http://127.0.0.1/'))).toBeUndefined();
    const pool = new Pool(`http://127.0.0.1:${port()}`, { connect: open.connect });
    const answer = await pool.request({ method: 'POST', path: '/' });
    await answer.body.dump();
    await pool.destroy();
    expect(hits).toBe(1);
  });
});
