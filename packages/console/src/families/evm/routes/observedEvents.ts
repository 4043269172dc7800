/** Compares the observed events with the events of the form. */
import type { ObservedEvent } from '@sluice/kit/sluice';
import type { AbiItem } from '@sluice/kit';
import { eventTopic, parseEventSignature } from '@sluice/kit/contract';
import { parseEvents } from './abiText.ts';
import { isEvent, TEMPLATES, withEvents, withRule } from '../draft.ts';
import { type StreamDraft } from '../../../routes/streamForm/draft/draft.ts';
import { rowsOf, type Observed } from '../../../routes/streamForm/dryRun/observed.ts';

/** An observed event, summed over all blocks. */
export interface ObservedTotal {
  topic0: string;
  signature: string | null;
  count: number;
  /**
   * Counts by number of indexed inputs, because events of ERC-20 and ERC-721 can have the same
   * topic.
   */
  kinds: readonly ObservedEvent[];
}

/** Returns the observed events in display order. */
export const countObserved = (observed: Observed): ObservedTotal[] =>
  rowsOf(observed).map(({ key, count, entries }) => {
    const kinds = entries.filter((each) => 'topic0' in each);
    const signature = kinds[0]?.signature ?? kinds.map(knownEvent).find(Boolean)?.signature ?? null;
    return { topic0: key, signature, count, kinds };
  });

/**
 * Counts the observed events that each event of the form matches. If the ABI has the event, the
 * number of indexed inputs must match.
 */
export function countEach(
  totals: readonly ObservedTotal[],
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

/** Returns the observed events that the form lists neither by signature nor by hash. */
export function listOffered(
  totals: readonly ObservedTotal[],
  listed: readonly string[],
): readonly ObservedTotal[] {
  const topics = new Set(listed.map(topicOf));
  return totals.filter(({ topic0 }) => !topics.has(topic0));
}

/**
 * Adds an observed event to a draft: by its ABI if a known ABI covers all occurrences, otherwise by
 * its signature or hash.
 */
export function withObservedEvent(
  draft: StreamDraft,
  { topic0, signature, kinds }: ObservedTotal,
): StreamDraft {
  const [known] = kinds.map(knownEvent);
  if (known === undefined || kinds.length > 1) return withRule(draft, signature ?? topic0);
  return withEvents(draft, parseEvents(known.text).items);
}

const topicOf = (signature: string): string => parseEventSignature(signature)?.topic0 ?? signature;

const countIndexed = ({ inputs = [] }: AbiItem): number =>
  inputs.filter(({ indexed }) => indexed === true).length;

/** Common events, and the other events of the token standards, in Solidity syntax. */
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

/** Known events by topic and number of indexed inputs. The topics are computed on first use. */
let knownEvents: Map<string, KnownEvent> | undefined;

function knownEvent({ topic0, indexed }: ObservedEvent): KnownEvent | undefined {
  knownEvents ??= new Map(
    KNOWN.map((text) => {
      const event = parseEventSignature(text);
      const inputs = text.split(' indexed ').length - 1;
      return [`${event?.topic0} ${inputs}`, { text, signature: event?.signature }];
    }),
  );
  return knownEvents.get(`${topic0} ${indexed}`);
}
