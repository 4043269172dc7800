/** What the writes of the ledger mean to those who watch it live. */
import type { ChainBlock, DeliverySummary, LiveEvent } from '@sluice/kit/contract';
import type { BlockHeader, Writes } from './store.ts';

type EventsOf = {
  [Name in keyof Writes]?: (
    answer: Awaited<ReturnType<Writes[Name]>>,
    ...args: Parameters<Writes[Name]>
  ) => LiveEvent[];
};

const deliveriesOf = (deliveries: readonly DeliverySummary[] = []): LiveEvent[] =>
  deliveries.map((delivery) => ({ type: 'delivery', delivery }));
const streamOf = (stream: { id: string } | undefined): LiveEvent[] =>
  stream === undefined ? [] : [{ type: 'stream', streamId: stream.id }];

/** By what each write answered, and what it was asked. */
const EVENTS_OF: EventsOf = {
  createStream: streamOf,
  updateStream: streamOf,
  setStreamStatus: streamOf,
  deleteStream: streamOf,
  failStream: streamOf,
  recoverStream: streamOf,
  spareStream: (until, id) => streamOf(until === undefined ? undefined : { id }),
  noteCertificate: (isNews, id) => streamOf(isNews ? { id } : undefined),
  endSparing: (streams) => streams.flatMap(streamOf),
  terminateStreams: (streams) => streams.flatMap(streamOf),
  changeAddresses: (outcomes, changes) =>
    changes.flatMap(({ streamId }, n) =>
      outcomes[n]?.outcome === 'changed' ? [{ type: 'stream', streamId }] : [],
    ),
  activateAddressChange: (answer) =>
    answer.outcome === 'changed' ? [{ type: 'stream', streamId: answer.streamId }] : [],
  startChain: deliveriesOf,
  commitBlock: (answer, { chain, block, head, matches }) =>
    answer.outcome !== 'committed'
      ? []
      : [
          {
            type: 'block',
            chainId: chain,
            block: toChainBlock({ ...block, matches: matches.length }),
            head: head ?? block.number,
          },
          ...deliveriesOf(answer.deliveries),
        ],
  rewindChain: (deliveries, { chain, ancestor }) =>
    deliveries === undefined
      ? []
      : [
          { type: 'reorg', chainId: chain, blockNumber: ancestor.number },
          ...deliveriesOf(deliveries),
        ],
  announce: (_, event) => [event],
  completeDeliveries: deliveriesOf,
  releaseLeases: ({ quarantined }) => deliveriesOf(quarantined),
  replayDelivery: (answer) => (answer === undefined ? [] : deliveriesOf([answer.after])),
  stopDelivery: (stopped) => deliveriesOf(stopped && [stopped]),
  advanceReplay: deliveriesOf,
  completeEnrichments: deliveriesOf,
  createJob: (job) => (job === undefined ? [] : [{ type: 'job', job }]),
  setJobState: (job) => (job === undefined ? [] : [{ type: 'job', job }]),
  commitJob: (answer) =>
    answer === undefined
      ? []
      : [{ type: 'job', job: answer.job }, ...deliveriesOf(answer.deliveries)],
  commitManual: deliveriesOf,
  receiveInInbox: ({ request }) => [{ type: 'inbox', request }],
};

/** A chain counts seconds, our own routes milliseconds. */
export const toChainBlock = ({
  number,
  hash,
  timestamp,
  matches,
}: BlockHeader & { matches: number }): ChainBlock => ({
  number,
  hash,
  timestamp: timestamp * 1000,
  matches,
});

type Method = (...args: unknown[]) => Promise<unknown>;

/**
 * These writes, those of them that mean something to others carried out by `carryOut`: it is given what
 * their answer means.
 */
export function withEvents(
  writes: Writes,
  carryOut: (
    name: keyof Writes,
    args: unknown[],
    toEvents: (answer: unknown) => LiveEvent[],
  ) => Promise<unknown>,
): Writes {
  const carried = Object.entries(EVENTS_OF).map(([name, toEvents]) => {
    const call: Method = (...args) =>
      carryOut(name as keyof Writes, args, (answer) =>
        (toEvents as (...given: unknown[]) => LiveEvent[])(answer, ...args),
      );
    return [name, call] as const;
  });
  return { ...writes, ...(Object.fromEntries(carried) as Partial<Writes>) };
}
