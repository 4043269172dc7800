/** Call for a summary of every stream: its status, problems, deliveries and receiver. */
import type { DestinationSummary, StreamSummary } from '@sluice/kit/contract';
import { hideSecrets } from '../../../base/hideSecrets.ts';
import type { Store } from '../../../store/store.ts';
import { toLaneId } from '../../../store/rows/laneIds.ts';
import type { DestinationRecord, StreamRecord } from '../../../store/streams/contract.ts';
import { eachStream } from '../../../store/streams/eachStream.ts';
import type { ApiFamilies, ProblemNeeds } from '../../family.ts';
import type { Handlers } from '../../handlers.ts';
import { problemOf } from './streamProblems.ts';

export interface StreamSummaryHandlerNeeds extends ProblemNeeds {
  store: Store;
  families: ApiFamilies;
}

export function createStreamSummaryHandlers(needs: StreamSummaryHandlerNeeds) {
  const { store, families } = needs;
  return {
    async listStreamSummaries() {
      // Many streams share a chain, so its state is read once.
      const problemNeeds: ProblemNeeds = {
        hasSource: (chain) => needs.hasSource(chain),
        whyDown: readOnce((chain) => needs.whyDown(chain)),
        lacks: readOnce((chain) => needs.lacks(chain)),
        whyUnread: (chain, streamId) => needs.whyUnread(chain, streamId),
        maxTimeoutSeconds: needs.maxTimeoutSeconds,
        maxChildren: needs.maxChildren,
      };
      const [stats, backOffs, certificates, pauses, destinations] = await Promise.all([
        store.readStreamStats(),
        store.listBackOffs(),
        store.listCertificates(),
        store.listPauses(),
        store.listDestinations(),
      ]);
      const statsOf = new Map(stats.map((each) => [each.streamId, each]));
      const backOffOf = new Map(
        backOffs.map(({ streamId, leftMs: _leftMs, ...backOff }) => [streamId, backOff]),
      );
      const pauseOf = new Map(pauses.map(({ streamId, ...pause }) => [streamId, pause]));
      const endsAtOf = new Map(certificates.map(({ streamId, endsAt }) => [streamId, endsAt]));
      const destinationsOf = Map.groupBy(destinations, ({ streamId }) => streamId);
      const toDestination = ({
        streamId,
        destination,
        webhookUrl,
        status,
        statusMessage,
      }: DestinationRecord): DestinationSummary => {
        const lane = toLaneId(streamId, destination);
        return {
          destination,
          webhookUrl: hideSecrets(webhookUrl),
          status,
          statusMessage,
          queue: statsOf.get(lane)?.queue ?? 0,
          lastDeliveryAt: statsOf.get(lane)?.lastDeliveryAt ?? null,
          backOff: backOffOf.get(lane) ?? null,
        };
      };
      const toSummary = (stream: StreamRecord): StreamSummary => {
        const its = statsOf.get(stream.id);
        const family = families[stream.family];
        return {
          id: stream.id,
          family: stream.family,
          tag: stream.tag,
          description: stream.description,
          webhookUrl: hideSecrets(stream.webhookUrl),
          status: stream.status,
          statusMessage:
            stream.status === 'active'
              ? problemOf(stream, family, problemNeeds)
              : stream.statusMessage,
          chainIds: stream.chainIds,
          allAddresses: stream.options.allAddresses,
          amountOfAddresses: stream.addressCount,
          amountOfChildren: stream.childCount,
          ...family.scopeOf(stream),
          createdAt: stream.createdAt,
          queue: its?.queue ?? 0,
          delivered24h: its?.delivered24h ?? 0,
          redelivered24h: its?.redelivered24h ?? 0,
          failedAttempts24h: its?.failedAttempts24h ?? 0,
          deliveredSeries: its?.deliveredSeries ?? [],
          hourlyDelivered: its?.hourlyDelivered ?? [],
          hourlyFailed: its?.hourlyFailed ?? [],
          p95Ms: its?.p95Ms ?? null,
          lastDeliveryAt: its?.lastDeliveryAt ?? null,
          failingSince: its?.failingSince ?? null,
          paused: pauseOf.get(stream.id) ?? null,
          backOff: backOffOf.get(stream.id) ?? null,
          certificateEndsAt: endsAtOf.get(stream.id) ?? null,
          destinations: (destinationsOf.get(stream.id) ?? []).map(toDestination),
        };
      };
      const result: StreamSummary[] = [];
      for await (const stream of eachStream(store)) result.push(toSummary(stream));
      return { result };
    },
  } satisfies Partial<Handlers>;
}

/** Returns a function that remembers the result for each chain. */
function readOnce<Result>(read: (chain: string) => Result): (chain: string) => Result {
  const known = new Map<string, Result>();
  return (chain) => {
    if (!known.has(chain)) known.set(chain, read(chain));
    return known.get(chain)!;
  };
}
