/**
 * Writes the records of webhooks to tables in PostgreSQL. An attempt succeeds when the transaction
 * with the rows is committed.
 */
import { isSluiceError } from '@sluice/kit';
import { familyOfWebhook, isTablesUrl, parseTablesUrl } from '@sluice/kit/contract';
import type { TablesDelivery } from '@sluice/kit/postgres';
import { type CleanText, cleanReceiverText } from '../../../base/foreignText.ts';
import { flagOf } from '../../../config/settings.ts';
import { withDeadline } from '../../send/deadline.ts';
import { readLocalFailure } from '../../send/localFailure.ts';
import { startStopwatch } from '../../stopwatch.ts';
import type { Destination, OutgoingWebhook, SendResult } from '../destination.ts';
import type { AddressGuard } from '../http/guard.ts';
import { createDatabases } from './databases.ts';
import { explainFailure, isLost } from './failures.ts';

export interface PostgresOptions {
  guard: Pick<AddressGuard, 'refuse' | 'refuseResolved' | 'resolve'>;
  /** URL of the proxy for HTTP requests, through which no database can be reached. */
  egressProxy?: string | undefined;
  /** Whether connections must use TLS. Default: false. */
  httpsOnly?: boolean | undefined;
}

type Written = Pick<SendResult, 'error' | 'urlProblem' | 'localFailure'>;

export function createPostgres({ guard, egressProxy, httpsOnly }: PostgresOptions): Destination {
  const databases = createDatabases(guard);
  /** Functions that hide the login of a URL in texts. */
  const cleaners = new Map<string, CleanText>();

  const cleanerOf = (url: string): CleanText => {
    let clean = cleaners.get(url);
    if (clean === undefined) {
      clean = cleanReceiverText(url);
      cleaners.set(url, clean);
    }
    return clean;
  };

  const refuse = (url: URL): string | undefined => {
    if (egressProxy !== undefined) {
      return `databases cannot be reached through ${flagOf('egressProxy')}: use an https: URL, or start the service without it`;
    }
    if (httpsOnly && parseTablesUrl(url.href).tls === 'disable') {
      return `connections without TLS are not allowed, because the service was started with ${flagOf('httpsOnly')}: add sslmode=verify-full`;
    }
    return guard.refuse(url);
  };

  const write = async ({ id, url, body }: OutgoingWebhook): Promise<Written> => {
    const refused = refuse(new URL(url));
    if (refused !== undefined) return { error: refused };
    try {
      const webhook = JSON.parse(Buffer.from(body).toString()) as TablesDelivery['webhook'];
      const { tables } = await databases.reach(url, familyOfWebhook(webhook));
      await tables.apply({ id, webhook });
      return { error: null };
    } catch (error) {
      if (isSluiceError(error)) {
        const problem = explainFailure(error);
        return { error: problem, urlProblem: problem };
      }
      if (isLost(error)) databases.reopen(url);
      const cause = readLocalFailure(error as Error);
      return {
        error: explainFailure(error),
        localFailure: cause && { cause, isSent: false },
      };
    }
  };

  return {
    takes: isTablesUrl,
    isIsolable: false,
    refuse: async (url) => refuse(url) ?? guard.refuseResolved(url),
    hostOf: () => undefined,
    async send(webhook, limitMs) {
      const startedAt = Date.now();
      const elapsedMs = startStopwatch();
      const written = await withDeadline<Written>(limitMs, write(webhook), (stalled) => ({
        error: `the database did not commit the rows within ${limitMs / 1000} s`,
        localFailure: stalled ? { cause: 'STALLED', isSent: true } : undefined,
      }));
      return {
        ...written,
        error: written.error && cleanerOf(webhook.url)(written.error),
        startedAt,
        durationMs: Math.round(elapsedMs()),
        status: null,
        responseBody: '',
        transport: null,
      };
    },
    tidy() {
      cleaners.clear();
      databases.closeIdle();
    },
    close: databases.close,
  };
}
