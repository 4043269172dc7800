/** Which events the watched addresses had, beside those of a form. Pure. */
import type { SeenEvent } from '@sluice/kit/sluice';
import type { AbiItem } from '@sluice/kit';
import { eventTopic, parseEventSignature } from '@sluice/kit/contract';
import { parseEvents } from '../draft/abiText.ts';
import { isEvent, TEMPLATES, withEvents, withRule, type StreamDraft } from '../draft/draft.ts';
import { rowsOf, type Seen } from './seen.ts';

/** An event in all blocks that were asked. */
export interface SeenTotal {
  topic0: string;
  signature: string | null;
  count: number;
  /** The same by how many inputs are indexed: ERC-20 and ERC-721 share the topic of Transfer. */
  kinds: readonly SeenEvent[];
}

/** In the order to show them in. */
export const countSeen = (seen: Seen): SeenTotal[] =>
  rowsOf(seen).map(({ key, count, entries }) => {
    const kinds = entries.filter((each) => 'topic0' in each);
    const signature = kinds[0]?.signature ?? kinds.map(knownEvent).find(Boolean)?.signature ?? null;
    return { topic0: key, signature, count, kinds };
  });

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
