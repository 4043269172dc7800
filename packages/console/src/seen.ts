/** Which events the watched addresses had in the blocks that were asked. Pure. */
import { mergeSeen, type SeenEvent } from '@sluice/kit/sluice';
import type { AbiItem } from '@sluice/kit';
import { eventTopic, parseEventSignature } from '@sluice/kit/contract';
import { parseEvents } from './abiText.ts';
import { isEvent, TEMPLATES, withEvents, withRule, type StreamDraft } from './draft.ts';

/** Kept while the same addresses are asked about: which events are chosen makes no difference to it. */
export interface Seen {
  /** The chain and the addresses, as a key. */
  of: string;
  /** By number: a block that is asked again counts once. */
  blocks: ReadonlyMap<number, readonly SeenEvent[]>;
  /** Topics in the order they are shown in: nobody finds another event under the finger. */
  order: readonly string[];
  /** Whether {@link settleSeen} has put the order by what is frequent. */
  isSettled: boolean;
}

export const noneSeen = (of: string): Seen => ({
  ...{ of, blocks: new Map(), order: [], isSettled: false },
});

/** With what came of one more block; events that are new stand at the end. */
export function withSeen(
  before: Seen,
  of: string,
  blockNumber: number,
  found: readonly SeenEvent[],
): Seen {
  const seen = before.of === of ? before : noneSeen(of);
  return {
    ...seen,
    blocks: new Map(seen.blocks).set(blockNumber, found),
    order: [...new Set([...seen.order, ...found.map(({ topic0 }) => topic0)])],
  };
}

/**
 * The most frequent first, once a run has come to its end.
 * @param anew also where that was done before: somebody asked for more.
 */
export function settleSeen(seen: Seen, { anew }: { anew: boolean }): Seen {
  if (seen.isSettled && !anew) return seen;
  const counts = new Map(countSeen(seen).map(({ topic0, count }) => [topic0, count]));
  return {
    ...seen,
    order: seen.order.toSorted((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0)),
    isSettled: true,
  };
}

/** An event in all blocks that were asked. */
export interface SeenTotal {
  topic0: string;
  signature: string | null;
  count: number;
  /** The same by how many inputs are indexed: ERC-20 and ERC-721 share the topic of Transfer. */
  kinds: readonly SeenEvent[];
}

/** In the order to show them in. */
export function countSeen({ blocks, order }: Seen): SeenTotal[] {
  const kinds = Map.groupBy(mergeSeen([], [...blocks.values()].flat()), (each) => each.topic0);
  return order.map((topic0) => {
    const its = kinds.get(topic0) ?? [];
    return {
      topic0,
      signature: its[0]?.signature ?? its.map(knownEvent).find(Boolean)?.signature ?? null,
      count: its.reduce((sum, { count }) => sum + count, 0),
      kinds: its,
    };
  });
}

/**
 * How many of them each event of a form takes: where the ABI has the event, those with as many inputs
 * indexed.
 */
export function countEach(
  totals: readonly SeenTotal[],
  abi: readonly AbiItem[],
  signatures: readonly string[],
): Map<string, number> {
  const kinds = new Map(totals.map((total) => [total.topic0, total.kinds]));
  const items = Map.groupBy(abi.filter(isEvent), eventTopic);
  return new Map(
    signatures.map((signature) => {
      const topic = topicOf(signature);
      const indexed = items.get(topic)?.map(countIndexed);
      const its = (kinds.get(topic) ?? []).filter(
        (kind) => indexed?.includes(kind.indexed) ?? true,
      );
      return [signature, its.reduce((sum, { count }) => sum + count, 0)];
    }),
  );
}

/** What a form may offer: all but the events that stand in it, by signature or hash. */
export function offeredOf(
  totals: readonly SeenTotal[],
  listed: readonly string[],
): readonly SeenTotal[] {
  const topics = new Set(listed.map(topicOf));
  return totals.filter(({ topic0 }) => !topics.has(topic0));
}

/**
 * The draft with an event that was seen: with its ABI where that is known and says all there was, else by
 * signature or by hash.
 */
export function withSeenEvent(
  draft: StreamDraft,
  { topic0, signature, kinds }: SeenTotal,
): StreamDraft {
  const [known] = kinds.map(knownEvent);
  if (known === undefined || kinds.length > 1) return withRule(draft, signature ?? topic0);
  return withEvents(draft, parseEvents(known.text).items);
}

const topicOf = (signature: string): string => parseEventSignature(signature)?.topic0 ?? signature;

const countIndexed = ({ inputs = [] }: AbiItem): number =>
  inputs.filter(({ indexed }) => indexed === true).length;

/** As in Solidity: what many watch, and the rest of the token standards. */
const KNOWN = [
  ...TEMPLATES.map(({ abi }) => abi),
  'event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)',
  'event Approval(address indexed owner, address indexed approved, uint256 indexed tokenId)',
  'event ApprovalForAll(address indexed owner, address indexed operator, bool approved)',
  'event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values)',
];

interface KnownEvent {
  text: string;
  signature: string | undefined;
}

/** By topic and number of indexed inputs; hashed when something was seen. */
let knownEvents: Map<string, KnownEvent> | undefined;

function knownEvent({ topic0, indexed }: SeenEvent): KnownEvent | undefined {
  knownEvents ??= new Map(
    KNOWN.map((text) => {
      const event = parseEventSignature(text);
      const inputs = text.split(' indexed ').length - 1;
      return [`${event?.topic0} ${inputs}`, { text, signature: event?.signature }];
    }),
  );
  return knownEvents.get(`${topic0} ${indexed}`);
}
