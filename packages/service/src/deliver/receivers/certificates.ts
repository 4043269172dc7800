/**
 * Records in the ledger the expiry of receiver certificates that expire soon, so that streams can
 * show it. If nothing changed, an attempt costs one map lookup.
 */
import type { ReceiverCertificate } from '@sluice/kit/contract';
import { type Log, describeError } from '../../base/log.ts';
import type { ClaimedDelivery } from '../../store/deliveries/contract.ts';
import type { Store } from '../../store/store.ts';

export interface Certificates {
  /** Loads the expiries that this or another process recorded. */
  learn(): Promise<void>;
  /** Records the certificate that an attempt received; null if it received no certificate. */
  note(
    { streamId, webhookUrl }: Pick<ClaimedDelivery, 'streamId' | 'webhookUrl'>,
    certificate: ReceiverCertificate | null,
    nowMs: number,
  ): void;
}

/**
 * Time for which an expiry must not be observed before a later one replaces it, because several
 * hosts behind a name may have different certificates.
 */
const CERTIFICATE_MS = 60_000;

export function createCertificates({
  store,
  log,
}: {
  store: Pick<Store, 'listCertificates' | 'recordCertificate'>;
  log: Log;
}): Certificates {
  /**
   * Expiries by stream, in Unix milliseconds. `metAt` (monotonic) and `url` come from the last
   * attempt that observed the certificate. An expiry that was loaded from the ledger has no `url`
   * until an attempt observes the certificate.
   */
  const soon = new Map<string, { endsAt: number; metAt: number; url: string | undefined }>();
  return {
    async learn() {
      for (const { streamId, endsAt } of await store.listCertificates()) {
        if (soon.has(streamId)) continue;
        soon.set(streamId, { endsAt, url: undefined, metAt: Number.NEGATIVE_INFINITY });
      }
    },
    note({ streamId, webhookUrl: url }, certificate, nowMs) {
      if (certificate === null) return;
      const endsAt = certificate.expiresSoon ? certificate.expiresAt : null;
      const last = soon.get(streamId);
      // An expiry without a URL came from the ledger, which deletes it when the URL changes.
      const known = last?.url === undefined || last.url === url ? last : undefined;
      if (known?.endsAt === endsAt) Object.assign(known, { metAt: nowMs, url });
      if ((known?.endsAt ?? null) === endsAt) return;
      const isLater = known !== undefined && (endsAt === null || endsAt > known.endsAt);
      if (isLater && nowMs - known.metAt < CERTIFICATE_MS) return;
      if (endsAt === null) soon.delete(streamId);
      else soon.set(streamId, { endsAt, metAt: nowMs, url });
      store.recordCertificate(streamId, endsAt).catch((error: unknown) => {
        log.warn('failed to record when a certificate expires', {
          stream: streamId,
          error: describeError(error),
        });
      });
    },
  };
}
