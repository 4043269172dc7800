/** Validates and converts the triggers and native balances of a draft. */
import type { AbiItem, RecordKind, StreamTrigger } from '@sluice/kit';
import { itemSignature, parseEventSignature, selectableOf, toAddress } from '@sluice/kit/contract';
import type { Selectable } from '@sluice/kit/contract';
import { formatAbiItem, parseAbiItem } from 'abitype';
import type { BalanceDraft, TriggerDraft } from '../draft.ts';

export const TRIGGER_KINDS: readonly { value: StreamTrigger['type']; label: string }[] = [
  { value: 'erc20transfer', label: 'ERC-20 transfer' },
  { value: 'erc20approval', label: 'ERC-20 approval' },
  { value: 'nfttransfer', label: 'NFT transfer' },
  { value: 'log', label: 'log' },
  { value: 'tx', label: 'transaction' },
];

export const BALANCE_KINDS: readonly { value: RecordKind; label: string }[] = [
  ...TRIGGER_KINDS,
  { value: 'internalTx', label: 'internal transaction' },
];

/**
 * The initial trigger, which is the most common one: it reads the sender's token balance for each
 * ERC-20 transfer.
 */
export const NEW_TRIGGER: TriggerDraft = {
  type: 'erc20transfer',
  contractAddress: '$contract',
  function: 'function balanceOf(address owner) view returns (uint256 balance)',
  inputs: ['$from'],
  topic0: '',
  callFrom: '',
};

export const NEW_BALANCE: BalanceDraft = { type: 'erc20transfer', selectors: ['$from'] };

/**
 * Parses a function from Solidity syntax or JSON. Returns undefined if the text is not a function.
 */
export function parseFunction(text: string): AbiItem | undefined {
  const trimmed = text.trim().replace(/;$/, '');
  try {
    const item: unknown = trimmed.startsWith('{')
      ? JSON.parse(trimmed)
      : parseAbiItem(/^function\s/.test(trimmed) ? trimmed : `function ${trimmed}`);
    return (item as AbiItem).type === 'function' ? (item as AbiItem) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the record fields that selectors of the trigger can name. For a log trigger, they include
 * the parameters of its event.
 */
export function selectorsOf({ type, topic0 }: TriggerDraft, abi: readonly AbiItem[]): Selectable {
  const wanted = type === 'log' ? parseEventSignature(topic0)?.topic0 : undefined;
  const event = abi.filter(
    (item) => item.type === 'event' && parseEventSignature(itemSignature(item))?.topic0 === wanted,
  );
  return selectableOf(
    type,
    event.flatMap(({ inputs = [] }) => inputs),
  );
}

export type TriggerField = 'contractAddress' | 'function' | 'inputs' | 'topic0' | 'callFrom';

const oneOf = (names: readonly string[]): string => names.map((name) => `$${name}`).join(', ');

function addressProblem(text: string, { addresses }: Selectable): string | undefined {
  const value = text.trim();
  if (value.startsWith('$')) {
    return addresses.includes(value.slice(1))
      ? undefined
      : `should select an address: one of ${oneOf(addresses)}`;
  }
  return toAddress(value) === undefined ? 'should be an address, or a selector of one' : undefined;
}

/**
 * Returns the problem of an argument that contains an unknown selector, even within nested arrays.
 */
function inputProblem(value: unknown, { all }: Selectable): string | undefined {
  if (Array.isArray(value)) {
    return (value as unknown[])
      .map((each) => inputProblem(each, { all, addresses: [] }))
      .find(Boolean);
  }
  if (typeof value !== 'string' || !value.startsWith('$') || all.includes(value.slice(1))) {
    return undefined;
  }
  return `should be a field of the record: one of ${oneOf(all)}`;
}

const SUBJECTS: Readonly<Record<TriggerField, string>> = {
  contractAddress: 'The contract',
  function: 'The call',
  inputs: 'Input',
  topic0: 'The event',
  callFrom: 'msg.sender',
};

/** Returns the problem of a field as a sentence that names the field. */
export const toTriggerSentence = (field: TriggerField, problem: string): string =>
  `${SUBJECTS[field]} ${problem}.`;

/** Returns the problems of a trigger by field, for {@link toTriggerSentence}. */
export function triggerProblems(
  trigger: TriggerDraft,
  abi: readonly AbiItem[],
): Partial<Record<TriggerField, string>> {
  const problems: Partial<Record<TriggerField, string>> = {};
  const note = (field: TriggerField, problem: string | undefined): void => {
    if (problem !== undefined) problems[field] = problem;
  };
  const selectable = selectorsOf(trigger, abi);
  note('contractAddress', addressProblem(trigger.contractAddress, selectable));
  if (trigger.callFrom.trim() !== '')
    note('callFrom', addressProblem(trigger.callFrom, selectable));
  const item = parseFunction(trigger.function);
  if (item === undefined) {
    note(
      'function',
      'should be a function such as balanceOf(address owner) view returns (uint256)',
    );
  } else if (item.stateMutability !== 'view' && item.stateMutability !== 'pure') {
    note('function', 'should be view or pure: a trigger only reads');
  }
  for (const [index, { name }] of (item?.inputs ?? []).entries()) {
    const text = trigger.inputs[index] ?? '';
    const what = name || String(index + 1);
    const problem = text.trim() === '' ? 'needs a value' : inputProblem(toInput(text), selectable);
    if (problem !== undefined) {
      note('inputs', `${what} ${problem}`);
      break;
    }
  }
  if (trigger.type === 'log' && trigger.topic0 !== '') {
    const isKnown = abi.some(
      (each) => each.type === 'event' && itemSignature(each) === trigger.topic0,
    );
    if (!isKnown) note('topic0', 'should be an event of the ABI above');
  }
  return problems;
}

export function balanceProblem({ type, selectors }: BalanceDraft): string | undefined {
  const { addresses } = selectableOf(type);
  const isRight = (text: string): boolean =>
    text.startsWith('$') && addresses.includes(text.slice(1));
  return selectors.length > 0 && selectors.every(isRight)
    ? undefined
    : `Select at least one of ${oneOf(addresses)}.`;
}

/** Parses JSON arrays, which are used for arrays and structs; all other values stay strings. */
export function toInput(text: string): unknown {
  const trimmed = text.trim();
  if (!trimmed.startsWith('[')) return trimmed;
  try {
    return JSON.parse(trimmed) as unknown;
  } catch {
    return trimmed;
  }
}

/** Returns a list with the trigger in the format of the API; empty if the function is not valid. */
export function toTrigger(trigger: TriggerDraft): StreamTrigger[] {
  const functionAbi = parseFunction(trigger.function);
  if (functionAbi === undefined) return [];
  const inputs = (functionAbi.inputs ?? []).map((_, index) => toInput(trigger.inputs[index] ?? ''));
  return [
    {
      type: trigger.type,
      contractAddress: trigger.contractAddress.trim(),
      functionAbi,
      ...(inputs.length > 0 && { inputs }),
      ...(trigger.type === 'log' && trigger.topic0 !== '' && { topic0: trigger.topic0 }),
      ...(trigger.callFrom.trim() !== '' && { callFrom: trigger.callFrom.trim() }),
    },
  ];
}

export const fromTrigger = (trigger: StreamTrigger): TriggerDraft => ({
  type: trigger.type,
  contractAddress: trigger.contractAddress,
  function: toFunctionText(trigger.functionAbi),
  inputs: (trigger.inputs ?? []).map((input) =>
    typeof input === 'string' ? input : JSON.stringify(input),
  ),
  topic0: trigger.topic0 ?? '',
  callFrom: trigger.callFrom ?? '',
});

/**
 * Returns Solidity syntax if nothing is lost, otherwise JSON, so that saving does not change the
 * function.
 */
function toFunctionText(item: AbiItem): string {
  const json = JSON.stringify(item);
  try {
    const text = formatAbiItem(item as Parameters<typeof formatAbiItem>[0]);
    return sorted(parseFunction(text)) === sorted(item) ? text : json;
  } catch {
    return json;
  }
}

const sorted = (item: AbiItem | undefined): string =>
  JSON.stringify(Object.entries(item ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1)));
