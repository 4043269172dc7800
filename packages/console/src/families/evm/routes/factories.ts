/** Validates and converts the factories of a draft. */
import type { AbiItem } from '@sluice/kit';
import {
  type AbiParameter,
  type Factory,
  eventTopic,
  parseEvent,
  toAddress,
} from '@sluice/kit/contract';
import { formatAbiItem } from 'abitype';
import { formatCount, formatHash } from '../../../ui/text/format.ts';
import { type EvmDraft, type FactoryDraft, isEvent } from '../draft.ts';

export const NEW_FACTORY: FactoryDraft = {
  address: '',
  childrenOf: null,
  event: '',
  parameter: '',
  from: '',
};

/** Maximum number of generations: children, their children, and the children of those. */
const MAX_GENERATIONS = 3;

/** Returns the generation of the children of each factory: 1 for those of an address. */
function generationsOf(factories: readonly FactoryDraft[]): number[] {
  const generations: number[] = [];
  for (const { childrenOf } of factories) {
    generations.push(childrenOf === null ? 1 : (generations[childrenOf] ?? 0) + 1);
  }
  return generations;
}

/** Returns the positions of the factories whose children can be the factories of an entry. */
export const parentsOf = (factories: readonly FactoryDraft[], index: number): number[] =>
  generationsOf(factories.slice(0, index)).flatMap((generation, position) =>
    generation < MAX_GENERATIONS ? [position] : [],
  );

/**
 * Returns the factories without one of them. Those that refer to it are left without a factory, and
 * the positions of the others are adjusted.
 */
export const withoutFactory = (factories: readonly FactoryDraft[], index: number): FactoryDraft[] =>
  factories.toSpliced(index, 1).map((factory) => {
    const { childrenOf } = factory;
    if (childrenOf === null || childrenOf < index) return factory;
    return { ...factory, childrenOf: childrenOf === index ? null : childrenOf - 1 };
  });

/**
 * Returns the events of an ABI as text that needs no ABI, such as
 * `PoolCreated(address indexed token0, address pool)`.
 */
export const eventTexts = (abi: readonly AbiItem[]): string[] => [
  ...new Set(
    abi
      .filter((item) => isEvent(item) && item.anonymous !== true && parametersOf(item).length > 0)
      .map((item) =>
        formatAbiItem(item as Parameters<typeof formatAbiItem>[0]).replace(/^event /, ''),
      ),
  ),
];

/** Returns the events that a text can mean: the one that it describes, and those of the ABI. */
function eventsOf(text: string, abi: readonly AbiItem[]): AbiItem[] {
  const item = parseEvent(text);
  const events = abi.filter(isEvent);
  if (item === undefined) return events.filter(({ name }) => name === text.trim());
  const topic = eventTopic(item);
  return [item, ...events.filter((each) => eventTopic(each) === topic)];
}

/** Returns the parameters of an event that can have the addresses of children, by their path. */
export function addressParameters(text: string, abi: readonly AbiItem[]): string[] {
  const [own, ...known] = eventsOf(text, abi);
  if (own === undefined) return [];
  const isNamed = own.inputs?.some(({ name }) => name !== '') ?? false;
  const events = isNamed || known.length === 0 ? [own, ...known] : known;
  return [...new Set(events.flatMap(parametersOf))];
}

const parametersOf = ({ inputs = [] }: AbiItem): string[] =>
  inputs.flatMap((input, position) =>
    // Logs have only the hash of an indexed list or tuple.
    input.indexed === true && input.type !== 'address' ? [] : pathsIn(input, position),
  );

function pathsIn({ name, type, components = [] }: AbiParameter, position: number): string[] {
  const own = name || `arg${position}`;
  if (/^address(\[\d*\])*$/.test(type)) return [own];
  return components.flatMap(pathsIn).map((path) => `${own}.${path}`);
}

/** Returns the factory with another event, and with the last of its addresses if needed. */
export function withEvent(
  factory: FactoryDraft,
  event: string,
  abi: readonly AbiItem[],
): FactoryDraft {
  const names = addressParameters(event, abi);
  const { parameter } = factory;
  return {
    ...factory,
    event,
    parameter: names.includes(parameter) ? parameter : (names.at(-1) ?? parameter),
  };
}

export type FactoryField = 'address' | 'event' | 'parameter' | 'from';

/** Returns the problems of a factory by field, each a sentence. */
export function factoryProblems(
  { address, childrenOf, event, parameter, from }: FactoryDraft,
  abi: readonly AbiItem[],
): Partial<Record<FactoryField, string>> {
  const problems: Partial<Record<FactoryField, string>> = {};
  if (childrenOf === null && toAddress(address.trim()) === undefined) {
    problems.address = 'Enter the address of the factory: 0x and 40 hex digits.';
  }
  const names = addressParameters(event, abi);
  if (eventsOf(event, abi).length === 0) {
    problems.event =
      'Enter an event with the names of its parameters, such as PairCreated(address indexed token0, address indexed token1, address pair, uint256).';
  } else if (names.length === 0) {
    problems.event = 'Enter an event that has an address.';
  } else if (!names.includes(parameter)) {
    problems.parameter = 'Choose the parameter with the address of the child.';
  }
  if (!/^\d*$/.test(from.trim()) || !Number.isSafeInteger(Number(from))) {
    problems.from = 'Enter a block number, or leave the field empty.';
  }
  return problems;
}

/** Converts a factory to the format of the API. */
export const toFactory = ({
  address,
  childrenOf,
  event,
  parameter,
  from,
}: FactoryDraft): Factory => ({
  ...(childrenOf === null ? { address: address.trim() } : { childrenOf }),
  ...(from.trim() !== '' && { from: Number(from) }),
  event: event.trim(),
  parameter,
});

export const fromFactory = ({
  address,
  childrenOf,
  event,
  parameter,
  from,
}: Factory): FactoryDraft => ({
  address: address ?? '',
  childrenOf: childrenOf ?? null,
  event,
  parameter,
  from: String(from ?? ''),
});

/** Describes a factory: `children of 0x1f98…f984: pool of PoolCreated, new ones only`. */
export function describeFactory({ address, childrenOf, event, parameter, from }: Factory): string {
  const factory =
    childrenOf === undefined
      ? formatHash(address || '…')
      : `the children of factory ${childrenOf + 1}`;
  const [name = ''] = event.replace(/^event\s+/, '').split('(');
  const since = from === undefined ? 'new ones only' : `from block ${formatCount(from)}`;
  return `children of ${factory}: ${parameter || '…'} of ${name.trim() || '…'}, ${since}`;
}

/** Returns the factories of a draft without the invalid ones, so that the service accepts them. */
export function validFactories({
  factories,
  abi,
}: Pick<EvmDraft, 'factories' | 'abi'>): FactoryDraft[] {
  const at = factories.findLastIndex((each) => Object.keys(factoryProblems(each, abi)).length > 0);
  return at === -1 ? factories : validFactories({ factories: withoutFactory(factories, at), abi });
}
