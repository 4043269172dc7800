import { EVM_CHAINS } from '@sluice/kit/contract';
import { parseAddressList } from '@sluice/kit/operator';
import { getAddress } from 'viem';
import { expect, test } from 'vitest';
import { draftProblems } from '../routes/streamForm/draft/problems.ts';
import { NEW_DRAFT } from '../routes/streamForm/draft/draft.ts';
import { DRAFT_FAMILIES } from './draftFamilies.ts';

const draft = { ...NEW_DRAFT, webhookUrl: 'sluice://inbox/default', tag: 'example' };

test('every example is a valid stream with checksummed addresses', () => {
  const known = EVM_CHAINS.flatMap(({ id }) => {
    const example = DRAFT_FAMILIES.evm.findExample(id);
    return example === null ? [] : [{ id, example }];
  });
  expect(known.map(({ id }) => id)).toContain('0x1');
  expect(new Set(known.map(({ example }) => example.address)).size).toBe(known.length);
  for (const { id, example } of known) {
    const filled = example.add({ ...draft, chains: [id] });
    const { rows, rejects } = parseAddressList(filled.addresses, 'evm');
    expect([rows.length, rejects]).toEqual([1, []]);
    expect(getAddress(example.address!.toLowerCase())).toBe(example.address);
    expect(draftProblems(filled, rows.length)).toEqual({});
  }
  const payments = DRAFT_FAMILIES.aptos.findExample('mainnet')!.add({
    ...draft,
    family: 'aptos',
    chains: ['mainnet'],
  });
  expect(draftProblems(payments, 0)).toEqual({});
});

test('an example keeps existing addresses and selected events', () => {
  const example = DRAFT_FAMILIES.evm.findExample('0x1')!;
  const rules = [
    { signature: 'Approval(address,address,uint256)', conditions: [], filterJson: null },
  ];
  const filled = example.add({ ...draft, addresses: '0x1111\n', rules });
  expect(filled.addresses).toBe(`0x1111\n${example.address}, USDC`);
  expect(filled.rules).toBe(rules);
  expect(example.add(draft).rules.map(({ signature }) => signature)).toEqual([
    'Transfer(address,address,uint256)',
  ]);
});

test('chains without a known address have no example', () => {
  expect(DRAFT_FAMILIES.evm.findExample('0xfa')).toBeNull();
  expect(DRAFT_FAMILIES.evm.findExample('0x123456')).toBeNull();
});
