import type { ReceiverCertificate } from '@sluice/kit/contract';
import { expect, test } from 'vitest';
import { createLog } from '../../base/log.ts';
import { createCertificates } from './certificates.ts';

const MINUTE = 60_000;
const shown = (expiresAt: number, expiresSoon = true): ReceiverCertificate => ({
  subject: 'CN=a',
  issuer: 'CN=b',
  names: ['a'],
  validFrom: 0,
  expiresAt,
  expiresSoon,
});

test('only changed expiry times are written; with several hosts, the earliest observed expiry wins', () => {
  const written: (number | null)[] = [];
  const certificates = createCertificates({
    log: createLog(() => {}),
    store: {
      listCertificates: () => Promise.resolve([]),
      recordCertificate(_, endsAt) {
        written.push(endsAt);
        return Promise.resolve(true);
      },
    },
  });
  let webhookUrl = 'https://a/one';
  const note = (at: number, certificate: ReceiverCertificate | null) =>
    certificates.note({ streamId: 'stream', webhookUrl }, certificate, at);
  note(0, null);
  note(0, shown(1_000_000, false));
  expect(written).toEqual([]);
  note(0, shown(500));
  note(1, shown(500));
  expect(written).toEqual([500]);
  // Only an earlier expiry is written, because several hosts may share the URL.
  note(2, shown(900));
  note(3, shown(1_000_000, false));
  expect(written).toEqual([500]);
  note(4, shown(300));
  expect(written).toEqual([500, 300]);
  // Reused connections also report a certificate that expires soon. If none is reported for a
  // minute, a later expiry therefore means a renewal.
  note(4 + MINUTE, null);
  expect(written).toEqual([500, 300]);
  note(5 + MINUTE, shown(1_000_000, false));
  expect(written).toEqual([500, 300, null]);
  // When a stream's URL changes, the ledger deletes the expiry, even if the new URL has the same
  // host.
  note(6 + MINUTE, shown(500));
  webhookUrl = 'https://a/two';
  note(7 + MINUTE, shown(500));
  expect(written).toEqual([500, 300, null, 500, 500]);
});
