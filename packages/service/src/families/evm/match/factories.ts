/** Compiles the factories of a stream, which read the addresses of their children from logs. */
import {
  type AbiItem,
  type AbiParameter,
  type DecodedValue,
  compileParameters,
  eventTopic,
  keccak256,
  parseEvent,
} from '@sluice/kit/contract';
import type { StreamOptions } from '../../../store/streams/contract.ts';
import type { ChildOrigin } from '../../../match/ruleIndex.ts';
import type { SearchedLog } from '../../../match/logSearch.ts';
import { FilterError } from './filter.ts';

export interface Factory {
  /** Identifies the factory in the ledger. Depends on the factory's address, event and parameter. */
  readonly key: string;
  /** Address of the factory in lowercase; undefined if the children of `parent` are factories. */
  readonly address: string | undefined;
  readonly parent: Factory | undefined;
  /** 1 for the children of an address, 2 for their children, and so on. */
  readonly generation: number;
  /** First block whose children are wanted; undefined for those of new blocks only. */
  readonly from: number | undefined;
  readonly topic0: string;
  /** Returns the children in a log of this event, in lowercase. */
  childrenIn(log: SearchedLog): string[];
}

type FactoryOptions = Pick<StreamOptions, 'factories' | 'abi'>;

/** Returns whether the stream watches the children of factories. */
export const takesChildren = ({ factories }: Pick<StreamOptions, 'factories'>): boolean =>
  (factories ?? []).length > 0;

/** @throws FilterError with a path that starts at the stream's options */
export function compileFactories({ factories, abi }: FactoryOptions): Factory[] {
  const compiled: Factory[] = [];
  for (const [n, { address, childrenOf, event, parameter, from }] of (factories ?? []).entries()) {
    const path = ['factories', n];
    const readers = findEvents(event, parameter, abi ?? []).map((item) =>
      compileReader(item, parameter, path),
    );
    const [first] = readers;
    if (first === undefined) {
      throw new FilterError(
        [...path, 'event'],
        'should be an event signature with the names of its parameters, or one event of abi',
      );
    }
    const parent = childrenOf === undefined ? undefined : compiled[childrenOf]!;
    const { topic0 } = first;
    compiled.push({
      key: keccak256([address ?? parent!.key, topic0, ...first.positions].join(' ')).slice(2, 18),
      address,
      parent,
      generation: (parent?.generation ?? 0) + 1,
      from,
      topic0,
      childrenIn(log) {
        const reader = readers.find(({ indexed }) => indexed === log.topics.length - 1);
        return reader === undefined ? [] : [...new Set(reader.read(log))].filter(isContract);
      },
    });
  }
  return compiled;
}

/** Describes where a child comes from; undefined if the factory is not among these. */
export function describeOrigin(
  factories: readonly Factory[],
  { factory: key, blockNumber }: ChildOrigin,
): string | undefined {
  let factory = factories.find((each) => each.key === key);
  if (factory === undefined) return undefined;
  let text = 'child of ';
  for (; factory.parent !== undefined; factory = factory.parent) text += 'a child of ';
  const since = blockNumber === undefined ? '' : ` since block ${blockNumber}`;
  return `${text}factory ${factory.address}${since}`;
}

/** Whether a contract can have the address. Events use the zero address for "none". */
const isContract = (address: string): boolean => BigInt(address) !== 0n;

/**
 * Returns the events that the text names: the one that it describes, or those of the ABI with its
 * name or signature, which may differ in their indexed parameters.
 */
function findEvents(text: string, parameter: string, abi: readonly AbiItem[]): AbiItem[] {
  const item = parseEvent(text);
  const [name] = parameter.split('.');
  if (item?.inputs?.some((input) => input.name === name)) return [item];
  const events = abi.filter(({ type, anonymous }) => type === 'event' && anonymous !== true);
  const named =
    item === undefined
      ? events.filter((each) => each.name === text.trim())
      : events.filter((each) => eventTopic(each) === eventTopic(item));
  if (named.length === 0) return item === undefined ? [] : [item];
  const isOne = named.every((each) => eventTopic(each) === eventTopic(named[0]!));
  return isOne ? named : [];
}

interface Reader {
  readonly topic0: string;
  /** Number of indexed parameters. */
  readonly indexed: number;
  /** Position of the parameter, and of the component in each tuple around the address. */
  readonly positions: readonly number[];
  read(log: SearchedLog): string[];
}

function compileReader(item: AbiItem, parameter: string, path: (string | number)[]): Reader {
  const refuse = (message: string): never => {
    throw new FilterError([...path, 'parameter'], message);
  };
  const inputs = item.inputs ?? [];
  const positions: number[] = [];
  let found: AbiParameter | undefined;
  let among: readonly AbiParameter[] = inputs;
  for (const name of parameter.split('.')) {
    const at = among.findIndex((each, n) => nameOf(each, n) === name);
    found = among[at];
    if (found === undefined || among.some((each, n) => n > at && nameOf(each, n) === name)) {
      return refuse(`should name one of ${among.map(nameOf).join(', ') || 'no parameters'}`);
    }
    positions.push(at);
    among = found.components ?? [];
  }
  if (!/^address(?:\[\d*\])*$/.test(found!.type)) {
    return refuse(`should have the type address or address[], not ${found!.type}`);
  }
  const [at = 0, ...inside] = positions;
  const topics = inputs.filter(({ indexed }) => indexed);
  const place = { topic0: eventTopic(item), indexed: topics.length, positions };
  if (inputs[at]!.indexed) {
    if (inputs[at]!.type !== 'address') {
      return refuse('should not be in an indexed list or tuple: logs have only its hash');
    }
    const topic = topics.indexOf(inputs[at]!) + 1;
    return { ...place, read: ({ topics }) => [`0x${topics[topic]!.slice(26).toLowerCase()}`] };
  }
  const data = inputs.filter(({ indexed }) => !indexed);
  const own = data.indexOf(inputs[at]!);
  const names: string[] = [];
  for (let part = inputs[at]!, n = 0; n < inside.length; part = part.components![inside[n++]!]!) {
    names.push(nameOf(part.components![inside[n]!]!, inside[n]!));
  }
  const parameters = compileParameters(data);
  if (parameters === undefined) {
    throw new FilterError([...path, 'event'], 'should have only parameters that can be decoded');
  }
  return {
    ...place,
    read(log) {
      try {
        const values = parameters.decode(log.data, { strict: false, text: 'exact' });
        return addressesIn(values[own]!, names);
      } catch {
        // The log is not of this event, although it has its topic.
        return [];
      }
    },
  };
}

/** Returns the name of a parameter in decoded values, where unnamed ones have their position. */
const nameOf = ({ name }: { name?: string | undefined }, position: number): string =>
  name || `arg${position}`;

/** Returns the addresses at this path of a decoded value, in each element of its lists. */
function addressesIn(value: DecodedValue, [name, ...names]: readonly string[]): string[] {
  if (Array.isArray(value)) {
    const rest = name === undefined ? [] : [name, ...names];
    return value.flatMap((each: DecodedValue) => addressesIn(each, rest));
  }
  if (name === undefined) return [value as string];
  return addressesIn((value as Record<string, DecodedValue>)[name]!, names);
}
