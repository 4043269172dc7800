/** Settings and statistics of the account. */
import type { Context } from 'hono';
import {
  type Settings,
  type Stats,
  type StatsCounters,
  type StreamStats,
  settingsSchema,
} from '@sluice/kit/contract';
import type { Store, StreamTotals } from '../../store/store.ts';
import { HttpError, check, notFound, readId } from '../answers.ts';
import { readJson } from '../body.ts';

export interface AccountHandlers {
  readSettings(context: Context): Response;
  setSettings(context: Context): Promise<Response>;
  getStats(context: Context): Promise<Response>;
  getStreamStats(context: Context): Promise<Response>;
}

export interface AccountHandlerNeeds {
  store: Store;
  settings: {
    read(): Settings;
    /** Whether the secret was given at the start, and so cannot be changed here. */
    readonly hasFixedSecret: boolean;
    save(changes: Settings): Promise<void>;
  };
  /** Whether secrets may be set, and are never told. */
  hidesSecrets: boolean;
}

export function createAccountHandlers({
  store,
  settings,
  hidesSecrets,
}: AccountHandlerNeeds): AccountHandlers {
  const toAnswer = ({ region, secretKey }: Settings): Settings =>
    hidesSecrets ? { region } : { region, secretKey };

  return {
    readSettings: (context) => context.json(toAnswer(settings.read())),

    async setSettings(context) {
      const changes = check(settingsSchema, 'requestBody', readJson(context));
      const { secretKey } = settings.read();
      if (
        settings.hasFixedSecret &&
        changes.secretKey !== undefined &&
        changes.secretKey !== secretKey
      ) {
        // What came is a secret: it is not repeated.
        throw new HttpError(409, 'The secret was given with --secret: change it there', {
          'requestBody.secretKey': {
            message:
              'should be left out: this service was started with --secret, start it with another',
          },
        });
      }
      await settings.save(changes);
      return context.json(toAnswer(settings.read()));
    },

    async getStats(context) {
      const all = await store.readTotals();
      const oldest = all[0];
      const streams = all.filter(({ isDeleted }) => !isDeleted);
      return context.json({
        ...toCounters(all),
        streams: streams.map((totals) => ({ streamId: totals.streamId, ...toCounters([totals]) })),
        ...(oldest && toPeriod(oldest)),
      } satisfies Stats);
    },

    async getStreamStats(context) {
      const [totals] = await store.readTotals(readId(context, 'stream', 'streamId'));
      if (totals === undefined || totals.isDeleted) throw notFound('Stat');
      return context.json({
        streamId: totals.streamId,
        ...toCounters([totals]),
        ...toPeriod(totals),
      } satisfies StreamStats);
    },
  };
}

function toCounters(all: readonly StreamTotals[]): StatsCounters {
  const sum = (of: (totals: StreamTotals) => number): number =>
    all.reduce((n, totals) => n + of(totals), 0);
  return {
    totalWebhooksDelivered: sum(({ webhooksDelivered }) => webhooksDelivered),
    totalWebhooksFailed: sum(({ webhooksFailed }) => webhooksFailed),
    totalLogsProcessed: sum(({ logs }) => logs),
    totalTxsProcessed: sum(({ transactions }) => transactions),
    totalTxsInternalProcessed: sum(({ internalTransactions }) => internalTransactions),
  };
}

/** From the creation of the stream, or of the oldest one, until now. */
const toPeriod = ({ streamCreatedAt }: StreamTotals) => ({
  createdAt: new Date(streamCreatedAt).toISOString(),
  updatedAt: new Date().toISOString(),
});
