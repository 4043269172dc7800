import { expect, test } from 'vitest';
import { describeChainFix } from './chainFix.ts';

test.each([
  'the ledger is full, busy or unreachable: database or disk is full',
  '12 MiB free on the disk of /data, below the minimum of 512 MiB (--min-free-mib): the service reads blocks again when there is more space',
])('a chain that is down because of the disk needs space, not another node: %s', (message) => {
  for (const needsResume of [true, false]) {
    expect(describeChainFix('0x1', message, needsResume)).toMatch(/^free up space on the disk/);
  }
});

test('a chain that is down because of a node needs that node, or a resume', () => {
  const message = 'node.example: eth_chainId failed: the disk is full';
  expect(describeChainFix('0x1', message, false)).toContain('sluice chains test');
  expect(describeChainFix('0x1', message, true)).toBe('sluice chains resume 0x1 --from <block>');
});
