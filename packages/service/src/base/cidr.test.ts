import fc from 'fast-check';
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
])('%s is in 10.0.0.0/8 or fd00::/8: %s', (address, expected) => {
  expect(createCidrList(['10.0.0.0/8', 'fd00::/8']).has(address)).toBe(expected);
});

test('an empty list has no address, and the widest networks have all', () => {
  expect(createCidrList([]).has('127.0.0.1')).toBe(false);
  const all = createCidrList(['0.0.0.0/0', '::/0']);
  for (const address of ['127.0.0.1', '::1', '8.8.8.8']) expect(all.has(address)).toBe(true);
});

test.each(['10.0.0.0', '10.0.0.0/33', '10.0.0.0/-1', '10.0.0/8', '::/129', 'a/8', '/8', ''])(
  '%j is not a network',
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
])('%s has the plain form %s', (address, plain) => {
  expect(toPlainAddress(address)).toBe(plain);
});

test.each([
  ['10.1.0.0/16', true],
  ['10.0.0.0/8', true],
  ['10.1.2.3/8', true],
  ['0.0.0.0/0', false],
  ['10.0.0.0/7', false],
  ['11.0.0.0/16', false],
  ['fd00:1::/32', true],
  ['::/0', false],
  ['::ffff:10.0.0.0/104', false],
  ['10.0.0.0', false],
])('10.0.0.0/8 or fd00::/8 covers %s: %s', (network, expected) => {
  expect(createCidrList(['10.0.0.0/8', 'fd00::/8']).covers(network)).toBe(expected);
});

test('property: a covered network has no address outside the list', () => {
  const byte = fc.nat(255);
  const address = fc.tuple(fc.constantFrom(10, 11), byte, byte, byte).map((it) => it.join('.'));
  const network = fc.tuple(address, fc.integer({ min: 4, max: 32 })).map((it) => it.join('/'));
  fc.assert(
    fc.property(fc.array(network, { maxLength: 4 }), network, address, (outer, inner, one) => {
      const list = createCidrList(outer);
      fc.pre(createCidrList([inner]).has(one));
      expect(list.has(one) || !list.covers(inner)).toBe(true);
    }),
  );
});
