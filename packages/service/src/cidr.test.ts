import { expect, test } from 'vitest';
import { createCidrList, toPlainAddress } from './cidr.ts';

test.each([
  ['10.1.2.3', true],
  ['11.0.0.1', false],
  ['::ffff:10.1.2.3', true],
  ['[::ffff:a01:203]', true],
  ['fd00::1%eth0', true],
  ['FD00:0:0::1', true],
  ['fe80::1', false],
  ['10.1.2', false],
  ['localhost', false],
  ['', false],
])('%s in 10.0.0.0/8 or fd00::/8: %s', (address, expected) => {
  expect(createCidrList(['10.0.0.0/8', 'fd00::/8']).has(address)).toBe(expected);
});

test('nothing lies in no network, everything in the widest', () => {
  expect(createCidrList([]).has('127.0.0.1')).toBe(false);
  const all = createCidrList(['0.0.0.0/0', '::/0']);
  for (const address of ['127.0.0.1', '::1', '8.8.8.8']) expect(all.has(address)).toBe(true);
});

test.each(['10.0.0.0', '10.0.0.0/33', '10.0.0.0/-1', '10.0.0/8', '::/129', 'a/8', '/8', ''])(
  '%j is no network',
  (text) => {
    expect(() => createCidrList([text])).toThrow(`${JSON.stringify(text)} should be a network`);
  },
);

test.each([
  ['::ffff:127.0.0.1', '127.0.0.1'],
  ['0:0:0:0:0:ffff:c0a8:1', '192.168.0.1'],
  ['[2001:DB8::0001]', '2001:db8::1'],
  ['fe80::1%eth0', 'fe80::1'],
  ['1.2.3.4', '1.2.3.4'],
])('%s is %s', (address, plain) => {
  expect(toPlainAddress(address)).toBe(plain);
});
