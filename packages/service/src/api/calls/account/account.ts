/** Calls for settings and statistics of the account. */
import type { Settings, StatsCounters } from '@sluice/kit/contract';
import type { Store } from '../../../store/store.ts';
import type { StreamTotals } from '../../../store/stats/contract.ts';
import { HttpError, notFound } from '../../httpErrors.ts';
import type { Handlers } from '../../handlers.ts';
import { flagOf } from '../../../config/settings.ts';

export interface AccountHandlerNeeds {
  store: Store;
  settings: {
    read(): Settings;
    /** Whether the settings contain the secret, so that API calls cannot change it. */
    readonly hasFixedSecret: boolean;
    save(changes: Settings): Promise<void>;
  };
  /** Whether responses never contain the secret, although calls may set it. */
  hidesSecrets: boolean;
}

export function createAccountHandlers({ store, settings, hidesSecrets }: AccountHandlerNeeds) {
  const toResponse = ({ region, secretKey }: Settings): Settings =>
    hidesSecrets ? { region } : { region, secretKey };

  return {
    readSettings: () => toResponse(settings.read()),

    async setSettings({ body: changes }) {
      const { secretKey } = settings.read();
      if (
        settings.hasFixedSecret &&
        changes.secretKey !== undefined &&
        changes.secretKey !== secretKey
      ) {
        // The value is a secret, so the error does not repeat it.
        throw new HttpError(409, `The secret was set with ${flagOf('secret')}: change it there`, {
          'requestBody.secretKey': {
            message: `should be left out: restart the service with another ${flagOf('secret')} instead`,
          },
        });
      }
      await settings.save(changes);
      return toResponse(settings.read());
    },

    async getStats() {
      const all = await store.readTotals();
      const oldest = all[0];
      const streams = all.filter(({ isDeleted }) => !isDeleted);
      return {
        ...toCounters(all),
        streams: streams.map((totals) => ({ streamId: totals.streamId, ...toCounters([totals]) })),
        ...(oldest && toPeriod(oldest)),
      };
    },

    async getStreamStats({ params: { streamId } }) {
      const [totals] = await store.readTotals(streamId);
      if (totals === undefined || totals.isDeleted) throw notFound('Stat');
      return {
        streamId: totals.streamId,
        ...toCounters([totals]),
        ...toPeriod(totals),
      };
    },
  } satisfies Partial<Handlers>;
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

/** Returns the period that statistics cover: from the creation of a stream until now. */
const toPeriod = ({ streamCreatedAt }: StreamTotals) => ({
  createdAt: new Date(streamCreatedAt).toISOString(),
  updatedAt: new Date().toISOString(),
});
