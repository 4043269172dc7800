/** Decodes the logs of a webhook to named, typed events. */
import { eventTopic } from '../contract/rules/events.ts';
import { canonicalType } from '../contract/rules/signatures.ts';
import { toAddress } from '../families/evm/address.ts';
import { checksumAddress } from '../families/evm/checksum.ts';
import type { AbiItem, WebhookLog } from '../contract/shapes.generated.ts';
import { SluiceError } from '../errors.ts';
import { readEvents } from '../contract/rules/abi/readAbi.ts';
import type { EventItem } from '../contract/rules/abi/readAbi.ts';
import {
  attemptRead,
  compileType,
  MALFORMED_ERROR,
  parameterNames,
  readLowerAddress,
  readMember,
  setNamed,
  Source,
  toHex,
  wordReader,
} from '../contract/rules/abi/values.ts';
import type {
  Codec,
  DecodedValue,
  ReadOptions,
  ReadWord,
  TextFormat,
} from '../contract/rules/abi/values.ts';
import type { Abi } from 'abitype';
import type { DecodedItem } from './argTypes.ts';

/** The part of a webhook that {@link decodeLogs} reads. */
export interface LogSource {
  readonly logs: readonly WebhookLog[];
  readonly abi?: readonly AbiItem[] | undefined;
}

/** A log decoded with an ABI whose types are not known at compile time. */
export interface DecodedLog {
  /** Name of the event. */
  readonly name: string;
  /**
   * Parameters by name, in order. Unnamed parameters are called `arg0`, `arg1`, … by position.
   * Integers are bigint, addresses and bytes are hex (see {@link DecodeOptions}), and tuples are
   * objects. The value of an indexed string, bytes, array or tuple is its hash, because the log
   * contains only the hash.
   */
  readonly args: { readonly [name: string]: DecodedValue };
  /** Position of the log in its block. */
  readonly logIndex: number;
  readonly transactionHash: string;
  /** Address of the contract that emitted the log, in the same format as the addresses in `args`. */
  readonly address: string;
}

/**
 * A log decoded with an `as const` ABI: a union over the events of the ABI, discriminated by
 * `name`.
 */
export type DecodedLogOf<A extends Abi | readonly AbiItem[]> = number extends A['length']
  ? DecodedLog
  : DecodedItem<A[number], 'event', DecodedLog>;

/**
 * Reason why a log could not be decoded:
 * - `unknown-event`: the ABI has no event with the log's first topic, and no matching anonymous
 *   event;
 * - `indexed-mismatch`: the event in the ABI has a different number of indexed parameters;
 * - `unsupported-type`: the event has a parameter type that cannot be decoded, such as `fixed`;
 * - `malformed`: the topics or data are not valid hex, or do not encode the event's parameters;
 * - `overlapping`: the values share bytes, and would be much larger than the log; with `strict`, two
 *   values share a byte;
 * - `dirty`: only with `strict`, unused bits are not zero, for example after a string.
 */
export type UndecodedReason =
  | 'unknown-event'
  | 'indexed-mismatch'
  | 'unsupported-type'
  | 'malformed'
  | 'overlapping'
  | 'dirty';

/** A log that could not be decoded with the ABI. */
export interface UndecodedLog {
  /** The log as received. */
  readonly log: WebhookLog;
  readonly reason: UndecodedReason;
}

/** The logs of a webhook in two lists, each in the order of the webhook. */
export interface DecodedLogs<Log = DecodedLog> {
  readonly decoded: Log[];
  readonly undecoded: UndecodedLog[];
}

/** Format of decoded addresses: lowercase, or with EIP-55 checksum. */
export type AddressFormat = 'lower' | 'checksummed';

/** Options of {@link decodeLogs}. */
export interface DecodeOptions {
  /**
   * Format of addresses. With `checksummed`, each address is hashed, which is most of the work
   * for an ERC-20 transfer.
   *
   * @defaultValue 'lower'
   */
  readonly addresses?: AddressFormat | undefined;
  /**
   * Format of decoded text. `database` replaces each NUL character with U+FFFD, because PostgreSQL
   * and other databases cannot store it.
   *
   * @defaultValue 'exact'
   */
  readonly text?: TextFormat | undefined;
  /**
   * Refuses logs that compilers do not produce, with the reasons `dirty` and `overlapping`. By
   * default, they are decoded as viem and ethers do.
   *
   * @defaultValue false
   */
  readonly strict?: boolean | undefined;
}

/**
 * Decodes the logs of a webhook with the given ABI, or with the ABI in the webhook. Accepts ABIs in
 * any form that compilers and libraries have produced, and skips events whose types are unknown. If
 * the ABI is `as const`, `name` and `args` are typed. Each ABI object is compiled only once, so
 * keep it in a constant and do not change it.
 * @throws SluiceError `invalid_webhook` without logs, `missing_abi` without an ABI.
 */
export function decodeLogs(
  webhook: LogSource,
  abi?: undefined,
  options?: DecodeOptions,
): DecodedLogs;
export function decodeLogs<const A extends Abi | readonly AbiItem[]>(
  webhook: Pick<LogSource, 'logs'>,
  abi: A,
  options?: DecodeOptions,
): DecodedLogs<DecodedLogOf<A>>;
export function decodeLogs(
  webhook: LogSource,
  abi: Abi | readonly AbiItem[] | undefined = webhook?.abi,
  options?: DecodeOptions,
): DecodedLogs {
  const logs: unknown = webhook?.logs;
  if (!Array.isArray(logs)) {
    throw new SluiceError(
      'invalid_webhook',
      'Cannot decode the logs. No logs found in the webhook, or invalid webhook provided.',
    );
  }
  if (!hasItems(abi)) {
    throw new SluiceError(
      'missing_abi',
      'Cannot decode the logs. No abis found in the provided webhook.',
    );
  }
  return decodeKnown(logs as WebhookLog[], abi, options);
}

/** Returns whether an ABI has items. Webhooks of streams without an ABI contain `[]`. */
export const hasItems = (
  abi: Abi | readonly AbiItem[] | null | undefined,
): abi is Abi | readonly AbiItem[] => Array.isArray(abi) && abi.length > 0;

/**
 * Decodes logs like {@link decodeLogs}, but returns all logs as undecoded if the ABI is missing.
 *
 * @param events receives the event of each decoded log
 */
export function decodeKnown(
  logs: readonly WebhookLog[],
  abi: Abi | readonly AbiItem[] | null | undefined,
  { addresses = 'lower', text = 'exact', strict = false }: DecodeOptions = {},
  events: EventItem[] = [],
): DecodedLogs {
  const compiled = compiledEvents(hasItems(abi) ? abi : NO_ABI, addresses);
  const options = { text, strict };
  const decoded: DecodedLog[] = [];
  const undecoded: UndecodedLog[] = [];
  for (const log of logs) {
    const result = decodeLog(log, compiled, options);
    if (typeof result === 'string') {
      undecoded.push({ log, reason: result });
    } else {
      decoded.push(toDecoded(result, log));
      events.push(result.event.item);
    }
  }
  return { decoded, undecoded };
}

const NO_ABI: readonly AbiItem[] = [];

/** A parameter of an event, with the position and reader of its value. */
interface Field {
  readonly name: string;
  /** Position among the indexed parameters; undefined if the value is in the data. */
  readonly indexed: number | undefined;
  /** Reader of an indexed parameter; undefined if the topic is a hash of the value. */
  readonly readTopic: ReadWord | undefined;
  /** Reader of a parameter in the data. */
  readonly codec: Codec | undefined;
  /** Position of the parameter's head in the data, in characters; 0 if the parameter is indexed. */
  readonly at: number;
}

interface CompiledEvent {
  readonly addresses: AddressFormat;
  readonly item: EventItem;
  readonly indexedCount: number;
  /**
   * Fields of the event; undefined before its first log, null if a parameter type cannot be
   * decoded.
   */
  fields?: readonly Field[] | null;
}

interface CompiledEvents {
  readonly byTopic: ReadonlyMap<string, readonly CompiledEvent[]>;
  readonly anonymous: readonly CompiledEvent[];
}

const compiled: Record<AddressFormat, WeakMap<object, CompiledEvents>> = {
  lower: new WeakMap(),
  checksummed: new WeakMap(),
};

function compiledEvents(abi: readonly unknown[], addresses: AddressFormat): CompiledEvents {
  let events = compiled[addresses].get(abi);
  if (!events) {
    events = compileEvents(abi, addresses);
    compiled[addresses].set(abi, events);
  }
  return events;
}

function compileEvents(abi: readonly unknown[], addresses: AddressFormat): CompiledEvents {
  const byTopic = new Map<string, CompiledEvent[]>();
  const anonymous: CompiledEvent[] = [];
  for (const item of readEvents(abi)) {
    const event = compileEvent(item, addresses);
    if (item.anonymous) {
      anonymous.push(event);
    } else {
      const topic = eventTopic(item);
      const known = byTopic.get(topic);
      if (known) known.push(event);
      else byTopic.set(topic, [event]);
    }
  }
  return { byTopic, anonymous };
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

const compileEvent = (item: EventItem, addresses: AddressFormat): CompiledEvent => ({
  addresses,
  item,
  indexedCount: item.inputs?.filter(({ indexed }) => indexed).length ?? 0,
});

/** Readers of addresses by format. */
export const READ_ADDRESS: Record<AddressFormat, ReadWord> = {
  lower: readLowerAddress,
  checksummed: (hex, at, strict) => checksumAddress(readLowerAddress(hex, at, strict)),
};

function compileFields({ item: { inputs = [] }, addresses }: CompiledEvent): Field[] | null {
  const readAddress = READ_ADDRESS[addresses];
  const names = parameterNames(inputs);
  const fields: Field[] = [];
  let indexedCount = 0;
  let at = '0x'.length;
  for (const [position, input] of inputs.entries()) {
    const name = names[position] ?? '';
    if (input.indexed) {
      const canonical = canonicalType(input.type);
      const readTopic = canonical === undefined ? undefined : wordReader(canonical, readAddress);
      if (!readTopic && !isHashedWhenIndexed(input.type)) return null;
      fields.push({ name, indexed: indexedCount++, readTopic, codec: undefined, at: 0 });
    } else {
      const codec = compileType(input, readAddress);
      if (!codec) return null;
      fields.push({ name, indexed: undefined, readTopic: undefined, codec, at });
      at += codec.headWords * 64;
    }
  }
  return fields;
}

const isHashedWhenIndexed = (type: string): boolean =>
  type === 'string' || type === 'bytes' || type === 'tuple' || type.endsWith(']');

interface Decoded {
  readonly event: CompiledEvent;
  readonly args: DecodedLog['args'];
}

function decodeLog(
  log: WebhookLog,
  events: CompiledEvents,
  options: ReadOptions,
): Decoded | UndecodedReason {
  const topics = topicsOf(log);
  const data = isObject(log) ? toHex(log.data) : undefined;
  if (topics === undefined || data === undefined) return 'malformed';
  const known = topics[0] === undefined ? undefined : events.byTopic.get(topics[0]);
  let reason: UndecodedReason = known ? 'indexed-mismatch' : 'unknown-event';
  for (const event of known ?? []) {
    if (event.indexedCount !== topics.length - 1) continue;
    const args = decodeArgs(event, topics.slice(1), data, options);
    if (typeof args !== 'string') return { event, args };
    reason = args;
  }
  for (const event of events.anonymous) {
    if (event.indexedCount !== topics.length) continue;
    // Nothing in the log identifies the event, so the data must be exactly what compilers write.
    const args = decodeArgs(event, topics, data, { ...options, strict: true });
    if (typeof args !== 'string') return { event, args };
  }
  return reason;
}

const toDecoded = (
  { event: { item, addresses }, args }: Decoded,
  { logIndex, transactionHash, address }: WebhookLog,
): DecodedLog => ({
  name: item.name,
  args,
  logIndex: Number(logIndex),
  transactionHash,
  address: typeof address === 'string' ? FORMAT_ADDRESS[addresses](address) : address,
});

const FORMAT_ADDRESS: Record<AddressFormat, (address: string) => string> = {
  lower: (address) => address.toLowerCase(),
  // Text that is not an address stays unchanged.
  checksummed: (address) => (toAddress(address) ? checksumAddress(address) : address),
};

/** Returns the topics of a log; undefined if one is invalid or follows a missing one. */
function topicsOf(log: unknown): string[] | undefined {
  if (!isObject(log)) return undefined;
  const { topic0, topic1, topic2, topic3 } = log as Partial<WebhookLog>;
  const topics: string[] = [];
  let ended = false;
  for (const topic of [topic0, topic1, topic2, topic3]) {
    if (topic === null || topic === undefined) {
      ended = true;
      continue;
    }
    const hex = ended ? undefined : toHex(topic);
    if (hex?.length !== 66) return undefined;
    topics.push(hex);
  }
  return topics;
}

/**
 * Returns the arguments of an event, or the reason why they cannot be decoded. `topics` are those
 * of the indexed parameters.
 */
function decodeArgs(
  event: CompiledEvent,
  topics: readonly string[],
  data: string,
  options: ReadOptions,
): DecodedLog['args'] | UndecodedReason {
  if (event.fields === undefined) event.fields = compileFields(event);
  const { fields } = event;
  if (!fields) return 'unsupported-type';
  return attemptRead(() => {
    const source = new Source(data, options);
    const args: Record<string, DecodedValue> = {};
    for (const field of fields) setNamed(args, field.name, readField(field, topics, source));
    return args;
  });
}

function readField(
  { indexed, readTopic, codec, at }: Field,
  topics: readonly string[],
  source: Source,
): DecodedValue {
  if (indexed !== undefined) {
    const topic = topics[indexed] ?? '';
    return readTopic ? readTopic(topic, 2, source.options.strict) : topic;
  }
  if (!codec) throw MALFORMED_ERROR;
  return readMember(codec, source, 2, at);
}
