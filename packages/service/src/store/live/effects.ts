/**
 * Effects of writes: the signals that they send to every process, and the live events that they
 * produce.
 */
import type { ChainBlock, DeliverySummary, LiveEvent } from '@sluice/kit/contract';
import type { BlockHeader } from '../blocks/contract.ts';
import type { Writes } from '../store.ts';
import { intercept } from '../intercept.ts';
import type { Signal, Signals } from './signals.ts';
import { isWaiting } from '../rows/deliveryRow.ts';

/**
 * Functions that compute the signals of a write from its result, and the live events from its
 * result and arguments.
 */
interface Effect<Write extends (...args: never[]) => Promise<unknown>> {
  signals?: (answer: Awaited<ReturnType<Write>>) => Signal[];
  events?: (answer: Awaited<ReturnType<Write>>, ...args: Parameters<Write>) => LiveEvent[];
}

type Effects = { [Name in keyof Writes]?: Effect<Writes[Name]> };

const always = (...what: Signal[]) => {
  return (): Signal[] => what;
};
const ifAny = (deliveries: readonly unknown[] | undefined): Signal[] =>
  deliveries === undefined || deliveries.length === 0 ? [] : ['deliveries'];
const deliveriesOf = (deliveries: readonly DeliverySummary[] = []): LiveEvent[] =>
  deliveries.map((delivery) => ({ type: 'delivery', delivery }));
const streamOf = (stream: { id: string } | undefined): LiveEvent[] =>
  stream === undefined ? [] : [{ type: 'stream', streamId: stream.id }];

const EFFECTS: Effects = {
  saveSetting: { signals: always('settings') },
  replaceSetting: { signals: always('settings') },
  addUrl: { signals: always('settings') },
  removeUrl: { signals: always('settings') },
  createStream: { signals: always('rules'), events: streamOf },
  updateStream: { signals: always('rules', 'deliveries'), events: streamOf },
  setStreamStatus: { signals: always('rules', 'deliveries'), events: streamOf },
  deleteStream: { signals: always('rules'), events: streamOf },
  failStream: { events: streamOf },
  recoverStream: { signals: always('deliveries'), events: streamOf },
  backOffStream: { events: (until, id) => streamOf(until === undefined ? undefined : { id }) },
  recordCertificate: { events: (isNews, id) => streamOf(isNews ? { id } : undefined) },
  endBackOff: { events: (streams) => streams.flatMap(streamOf) },
  terminateStreams: {
    signals: (streams) => (streams.length > 0 ? ['rules'] : []),
    events: (streams) => streams.flatMap(streamOf),
  },
  changeAddresses: {
    signals: always('rules'),
    events: (outcomes, changes) =>
      changes.flatMap(({ streamId }, n) =>
        outcomes[n]?.outcome === 'changed' ? [{ type: 'stream', streamId }] : [],
      ),
  },
  activateAddressChange: {
    signals: always('rules'),
    events: (answer) =>
      answer.outcome === 'changed' ? [{ type: 'stream', streamId: answer.streamId }] : [],
  },
  takeLease: { signals: (epoch) => (epoch === undefined ? [] : ['leases']) },
  giveUpLease: { signals: always('leases') },
  leaveReaders: { signals: always('leases') },
  startChain: { signals: ifAny, events: deliveriesOf },
  commitBlock: {
    signals: (answer) => (answer.outcome === 'committed' ? ifAny(answer.deliveries) : []),
    events: (answer, { chain, block, head, matches }) =>
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
  },
  rewindChain: {
    signals: ifAny,
    events: (deliveries, { chain, ancestor }) =>
      deliveries === undefined
        ? []
        : [
            { type: 'reorg', chainId: chain, blockNumber: ancestor.number },
            ...deliveriesOf(deliveries),
          ],
  },
  announce: { events: (_, event) => [event] },
  completeDeliveries: { events: deliveriesOf },
  releaseLeases: {
    signals: ({ released }) => (released > 0 ? ['deliveries'] : []),
    events: ({ quarantined, cancelled }) => deliveriesOf([...quarantined, ...cancelled]),
  },
  replayDelivery: {
    signals: (answer) => (answer !== undefined && isWaiting(answer.after) ? ['deliveries'] : []),
    events: (answer) => (answer === undefined ? [] : deliveriesOf([answer.after])),
  },
  releaseDelivery: { signals: ifAny, events: deliveriesOf },
  confirmUnverified: { signals: ifAny, events: deliveriesOf },
  stopDelivery: { events: (stopped) => deliveriesOf(stopped && [stopped]) },
  advanceReplay: { events: deliveriesOf },
  completeEnrichments: { signals: ifAny, events: deliveriesOf },
  createJob: {
    signals: always('jobs'),
    events: (job) => (job === undefined ? [] : [{ type: 'job', job }]),
  },
  setJobState: {
    signals: always('jobs'),
    events: (job) => (job === undefined ? [] : [{ type: 'job', job }]),
  },
  commitJob: {
    signals: (answer) => ifAny(answer?.deliveries),
    events: (answer) =>
      answer === undefined
        ? []
        : [{ type: 'job', job: answer.job }, ...deliveriesOf(answer.deliveries)],
  },
  commitManual: { signals: ifAny, events: deliveriesOf },
  commitReading: { signals: ifAny, events: deliveriesOf },
  receiveInInbox: {
    events: (received) =>
      received === undefined ? [] : [{ type: 'inbox', request: received.request }],
  },
};

/** Converts a block to the API's format, with its timestamp in milliseconds instead of seconds. */
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

/**
 * Adds effects to writes: each write sends its signals once it has succeeded. Writes that may
 * produce events are executed by `carryOut`, which can convert their results to events.
 */
export function withEffects(
  writes: Writes,
  signals: Signals,
  carryOut: (
    name: keyof Writes,
    args: unknown[],
    toEvents: (answer: unknown) => LiveEvent[],
  ) => Promise<unknown>,
): Writes {
  type AnyWrite = (...args: unknown[]) => Promise<unknown>;
  const wrappers = Object.entries(EFFECTS).map(([key, effect]) => {
    const name = key as keyof Writes;
    const { signals: toSignals, events } = effect as Effect<AnyWrite>;
    const wrap =
      (write: AnyWrite): AnyWrite =>
      async (...args) => {
        const answer = await (events === undefined
          ? write(...args)
          : carryOut(name, args, (answered) => events(answered, ...args)));
        if (toSignals !== undefined) signals.send(toSignals(answer));
        return answer;
      };
    return [name, wrap] as const;
  });
  return intercept(writes, Object.fromEntries(wrappers) as Parameters<typeof intercept<Writes>>[1]);
}
