import fc from 'fast-check';
import { expect, test } from 'vitest';
import { operatorOf } from './operators.ts';

test.each([
  ['https://eth.one.example.com/v2/KEY', 'example.com'],
  ['wss://example.com:8546', 'example.com'],
  ['https://rpc.example.co.uk', 'example.co.uk'],
  // Each customer of a hosting service has a domain of its own.
  ['https://node.mine.github.io', 'mine.github.io'],
  ['http://10.0.0.5:8545', '10.0.0.5:8545'],
  ['http://[::1]:8545', '[::1]:8545'],
  ['http://localhost:8545', 'localhost:8545'],
  ['http://geth:8545', 'geth:8545'],
  ['http://geth.internal:8545', 'geth.internal:8545'],
])('the operator of %s is %s', (url, operator) => {
  expect(operatorOf(url)).toBe(operator);
});

const label = fc.stringMatching(/^[a-z][a-z0-9]{0,9}$/);
const urlOf = (host: string, port: number, key: string): string => `https://${host}:${port}/${key}`;
const url = fc.tuple(fc.array(label, { maxLength: 3 }), fc.integer({ min: 1, max: 65_535 }), label);

test('property: URLs of one registrable domain have one operator, and others have another', () => {
  fc.assert(
    fc.property(url, url, label, label, (one, two, name, other) => {
      const [first, second] = [one, two].map(([labels, port, key]) =>
        operatorOf(urlOf([...labels, `${name}-nodes`, 'com'].join('.'), port, key)),
      );
      expect(first).toBe(second);
      const elsewhere = operatorOf(urlOf(`${other}-nodes.org`, 443, 'key'));
      expect(elsewhere).not.toBe(first);
    }),
  );
});
