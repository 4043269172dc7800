import { expect, test } from 'vitest';
import {
  balanceProblem,
  fromTrigger,
  NEW_BALANCE,
  NEW_TRIGGER,
  toTrigger,
  triggerProblems,
} from './triggers.ts';
import type { TriggerDraft } from '../draft.ts';

const CONTRACT = '0xdac17f958d2ee523a2206206994597c13d831ec7';
const EVENT = {
  type: 'event',
  name: 'Staked',
  inputs: [
    { name: 'who', type: 'address', indexed: true },
    { name: 'amount', type: 'uint256', indexed: false },
  ],
} as const;

test('a trigger converts to the fields of the contract and back', () => {
  const draft: TriggerDraft = {
    ...NEW_TRIGGER,
    contractAddress: CONTRACT,
    function: 'allowances(address owner, address[] spenders) view returns (uint256[] amounts)',
    inputs: ['$from', `["$to", "${CONTRACT}"]`],
  };
  const [trigger] = toTrigger(draft);
  expect(trigger).toMatchObject({
    type: 'erc20transfer',
    contractAddress: CONTRACT,
    functionAbi: { type: 'function', name: 'allowances', stateMutability: 'view' },
    inputs: ['$from', ['$to', CONTRACT]],
  });
  expect(toTrigger(draft).map(fromTrigger).flatMap(toTrigger)).toEqual(toTrigger(draft));
});

test('an ABI that Solidity syntax cannot express stays unchanged', () => {
  const trigger = {
    type: 'tx' as const,
    contractAddress: CONTRACT,
    functionAbi: {
      type: 'function' as const,
      name: 'f',
      stateMutability: 'view',
      constant: true,
      inputs: [],
      outputs: [{ name: '', type: 'uint256', internalType: 'Shares' }],
    },
  };
  expect(toTrigger(fromTrigger(trigger))).toEqual([trigger]);
});

test.each<[Partial<TriggerDraft>, string, string]>([
  [{ contractAddress: '$fromAddress' }, 'contractAddress', '$contract, $from, $to'],
  [{ contractAddress: '$value' }, 'contractAddress', 'should select an address'],
  [{ contractAddress: '0x12' }, 'contractAddress', 'should be an address'],
  [{ callFrom: '$tokenId' }, 'callFrom', 'should select an address'],
  [{ function: 'balanceOf(' }, 'function', 'such as balanceOf'],
  [{ function: 'burn(uint256 amount)', inputs: ['1'] }, 'function', 'view or pure'],
  [{ inputs: ['$sender'] }, 'inputs', 'owner should be a field of the record'],
  [{ inputs: [] }, 'inputs', 'owner needs a value'],
  [{ type: 'log', contractAddress: '$address', inputs: ['$who'] }, 'inputs', '$topic1'],
  [{ type: 'log', contractAddress: '$address', inputs: ['$data'], topic0: 'X()' }, 'topic0', 'ABI'],
])('%j is rejected at %s', (change, field, reason) => {
  const problems = triggerProblems({ ...NEW_TRIGGER, ...change }, [EVENT]);
  expect(Object.keys(problems)).toEqual([field]);
  expect(Object.values(problems)[0]).toContain(reason);
});

test('parameters of the selected event can be used', () => {
  const onEvent: TriggerDraft = {
    ...NEW_TRIGGER,
    type: 'log',
    topic0: 'Staked(address,uint256)',
    contractAddress: '$address',
    inputs: ['$who'],
  };
  expect(triggerProblems(onEvent, [EVENT])).toEqual({});
  expect(triggerProblems(NEW_TRIGGER, [])).toEqual({});
});

test('balances require addresses of the record', () => {
  expect(balanceProblem(NEW_BALANCE)).toBeUndefined();
  expect(balanceProblem({ type: 'tx', selectors: ['$from'] })).toContain('$fromAddress');
  expect(balanceProblem({ type: 'tx', selectors: [] })).toContain('$fromAddress');
});
