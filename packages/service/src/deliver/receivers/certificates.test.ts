import type { ReceiverCertificate } from '@sluice/kit/contract';
import { expect, test } from 'vitest';
import { createLog } from '../../base/log.ts';
import { createCertificates } from './receivers.ts';

const MINUTE = 60_000;
const shown = (expiresAt: number, expiresSoon = true): ReceiverCertificate => ({
  ...{ subject: 'CN=a', issuer: 'CN=b', names: ['a'], validFrom: 0, expiresAt, expiresSoon },
});

test('only news are written: of several hosts the one that ends first, until it is met no more', () => {
  const written: (number | null)[] = [];
  const certificates = createCertificates({
    log: createLog(() => {}),
    store: {
      listCertificates: () => Promise.resolve([]),
      noteCertificate(_, endsAt) {
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
  // Another host has a better one, and a third a worse one.
  note(2, shown(900));
  note(3, shown(1_000_000, false));
  expect(written).toEqual([500]);
  note(4, shown(300));
  expect(written).toEqual([500, 300]);
  // On an open connection it is shown while it ends soon: not any more means that it was renewed.
  note(4 + MINUTE, null);
  expect(written).toEqual([500, 300]);
  note(5 + MINUTE, shown(1_000_000, false));
  expect(written).toEqual([500, 300, null]);
  // The ledger forgets it with the URL, though the next may be of the same host.
  note(6 + MINUTE, shown(500));
  webhookUrl = 'https://a/two';
  note(7 + MINUTE, shown(500));
  expect(written).toEqual([500, 300, null, 500, 500]);
});
