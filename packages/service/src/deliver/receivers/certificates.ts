/**
 * Says in the ledger which receivers have a certificate that ends soon, for those who look at a stream
 * rather than at a delivery. An attempt that shows nothing new costs a look into a map.
 */
import type { ReceiverCertificate } from '@sluice/kit/contract';
import { type Log, describeError } from '../../base/log.ts';
import type { ClaimedDelivery } from '../../store/deliveries/contract.ts';
import type { Store } from '../../store/store.ts';

export interface Certificates {
  /** Of streams that this process or another has said something of. */
  learn(): Promise<void>;
  /** What an attempt that ended at this time showed; null where it showed none. */
  note(
    { streamId, webhookUrl }: Pick<ClaimedDelivery, 'streamId' | 'webhookUrl'>,
    certificate: ReceiverCertificate | null,
    nowMs: number,
  ): void;
}

/** Of several hosts behind one name the one whose certificate ends first counts, while it is met. */
const MET_MS = 60_000;

export function createCertificates({
  store,
  log,
}: {
  store: Pick<Store, 'listCertificates' | 'noteCertificate'>;
  log: Log;
}): Certificates {
  /** By stream; a time by the clock of attempts, and the URL where this process has met it. */
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
      // Of another URL the ledger knows nothing.
      const known = last?.url === undefined || last.url === url ? last : undefined;
      if (known?.endsAt === endsAt) Object.assign(known, { metAt: nowMs, url });
      if ((known?.endsAt ?? null) === endsAt) return;
      const isLater = known !== undefined && (endsAt === null || endsAt > known.endsAt);
      if (isLater && nowMs - known.metAt < MET_MS) return;
      if (endsAt === null) soon.delete(streamId);
      else soon.set(streamId, { endsAt, metAt: nowMs, url });
      store.noteCertificate(streamId, endsAt).catch((error: unknown) => {
        log.warn('cannot say when a certificate ends', {
          stream: streamId,
          error: describeError(error),
        });
      });
    },
  };
}
