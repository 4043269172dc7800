/**
 * The effects of writes on others: the signals they send to every process, and the live events they
 * produce.
 */
import type { ChainBlock, DeliverySummary, LiveEvent } from '@sluice/kit/contract';
import type { BlockHeader } from '../blocks/contract.ts';
import type { Writes } from '../store.ts';
import { intercept } from '../intercept.ts';
import type { Notice, Notices } from './notices.ts';

/** Computes effects from the result and the arguments of a write. */
interface Effect<Write extends (...args: never[]) => Promise<unknown>> {
  notices?: (answer: Awaited<ReturnType<Write>>) => Notice[];
  events?: (answer: Awaited<ReturnType<Write>>, ...args: Parameters<Write>) => LiveEvent[];
}

type Effects = { [Name in keyof Writes]?: Effect<Writes[Name]> };

const always = (...what: Notice[]) => {
  return (): Notice[] => what;
};
const ifAny = (deliveries: readonly unknown[] | undefined): Notice[] =>
  deliveries === undefined || deliveries.length === 0 ? [] : ['deliveries'];
const deliveriesOf = (deliveries: readonly DeliverySummary[] = []): LiveEvent[] =>
  deliveries.map((delivery) => ({ type: 'delivery', delivery }));
const streamOf = (stream: { id: string } | undefined): LiveEvent[] =>
  stream === undefined ? [] : [{ type: 'stream', streamId: stream.id }];

const EFFECTS: Effects = {
  saveSetting: { notices: always('settings') },
  createStream: { notices: always('rules'), events: streamOf },
  updateStream: { notices: always('rules', 'deliveries'), events: streamOf },
  setStreamStatus: { notices: always('rules', 'deliveries'), events: streamOf },
  deleteStream: { notices: always('rules'), events: streamOf },
  failStream: { events: streamOf },
  recoverStream: { notices: always('deliveries'), events: streamOf },
  spareStream: { events: (until, id) => streamOf(until === undefined ? undefined : { id }) },
  noteCertificate: { events: (isNews, id) => streamOf(isNews ? { id } : undefined) },
  endSparing: { events: (streams) => streams.flatMap(streamOf) },
  terminateStreams: { events: (streams) => streams.flatMap(streamOf) },
  changeAddresses: {
    notices: always('rules'),
    events: (outcomes, changes) =>
      changes.flatMap(({ streamId }, n) =>
        outcomes[n]?.outcome === 'changed' ? [{ type: 'stream', streamId }] : [],
      ),
  },
  activateAddressChange: {
    notices: always('rules'),
    events: (answer) =>
      answer.outcome === 'changed' ? [{ type: 'stream', streamId: answer.streamId }] : [],
  },
  takeLease: { notices: (epoch) => (epoch === undefined ? [] : ['leases']) },
  giveUpLease: { notices: always('leases') },
  startChain: { notices: ifAny, events: deliveriesOf },
  commitBlock: {
    notices: (answer) => (answer.outcome === 'committed' ? ifAny(answer.deliveries) : []),
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
    notices: ifAny,
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
    notices: ({ released }) => (released > 0 ? ['deliveries'] : []),
    events: ({ quarantined }) => deliveriesOf(quarantined),
  },
  replayDelivery: {
    notices: (answer) => (answer?.after.state === 'pending' ? ['deliveries'] : []),
    events: (answer) => (answer === undefined ? [] : deliveriesOf([answer.after])),
  },
  stopDelivery: { events: (stopped) => deliveriesOf(stopped && [stopped]) },
  advanceReplay: { events: deliveriesOf },
  completeEnrichments: { notices: ifAny, events: deliveriesOf },
  createJob: {
    notices: always('jobs'),
    events: (job) => (job === undefined ? [] : [{ type: 'job', job }]),
  },
  setJobState: {
    notices: always('jobs'),
    events: (job) => (job === undefined ? [] : [{ type: 'job', job }]),
  },
  commitJob: {
    notices: (answer) => ifAny(answer?.deliveries),
    events: (answer) =>
      answer === undefined
        ? []
        : [{ type: 'job', job: answer.job }, ...deliveriesOf(answer.deliveries)],
  },
  commitManual: { notices: ifAny, events: deliveriesOf },
  receiveInInbox: { events: ({ request }) => [{ type: 'inbox', request }] },
};

/** Chains use seconds, our own routes milliseconds. */
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
 * Adds effects to writes: signals are sent after each write; writes that may produce events are
 * executed by `carryOut`, which can convert their result to events.
 */
export function withEffects(
  writes: Writes,
  notices: Notices,
  carryOut: (
    name: keyof Writes,
    args: unknown[],
    toEvents: (answer: unknown) => LiveEvent[],
  ) => Promise<unknown>,
): Writes {
  type AnyWrite = (...args: unknown[]) => Promise<unknown>;
  const wrappers = Object.entries(EFFECTS).map(([key, effect]) => {
    const name = key as keyof Writes;
    const { notices: toNotices, events } = effect as Effect<AnyWrite>;
    const wrap =
      (write: AnyWrite): AnyWrite =>
      async (...args) => {
        const answer = await (events === undefined
          ? write(...args)
          : carryOut(name, args, (answered) => events(answered, ...args)));
        if (toNotices !== undefined) notices.tell(toNotices(answer));
        return answer;
      };
    return [name, wrap] as const;
  });
  return intercept(writes, Object.fromEntries(wrappers) as Parameters<typeof intercept<Writes>>[1]);
}
