/** Sends webhooks to one kind of queue, and makes certificates for its brokers. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates, setDefaultCACertificates } from 'node:tls';
import { TEST_WEBHOOK } from '@sluice/kit/contract';
import { type CertificateOptions, createCertificate } from '@sluice/testkit';
import { onTestFinished } from 'vitest';
import { createSender } from '../../send/send.ts';
import type { Destination } from '../destination.ts';
import { ALL_NETWORKS, createAddressGuard } from '../http/guard.ts';
import type { QueueOptions } from './queue.ts';

export const SECRET = 'a streams secret';
export const WEBHOOK = {
  ...TEST_WEBHOOK,
  streamId: '6c1a2b3c-0000-4000-8000-000000000001',
  tag: 'paid orders.é',
  chainId: '0x1',
};

/** Returns a sender, which is closed after the test. By default, all addresses are allowed. */
export function openQueueSender(
  create: (options: QueueOptions) => Destination,
  options: Partial<QueueOptions> = {},
) {
  const sender = createSender({
    destinations: [
      create({
        guard: createAddressGuard({ allowCidrs: ALL_NETWORKS }),
        readChainAndPhase: (webhook) => ({
          chainId: (webhook as typeof WEBHOOK).chainId,
          phase: 'confirmed',
        }),
        ...options,
      }),
    ],
    secret: () => SECRET,
    region: () => 'us-east-1',
    timeoutMs: 5_000,
  });
  onTestFinished(() => sender.close());
  return {
    send: (url: string, more: { id?: string; body?: string; timeoutMs?: number } = {}) =>
      sender.send({
        url,
        id: more.id ?? crypto.randomUUID(),
        body: Buffer.from(more.body ?? JSON.stringify(WEBHOOK)),
        headers: { 'x-own': 'a value' },
        timeoutMs: more.timeoutMs,
        queueSize: 0,
        recordsCharged: 0,
      }),
    destinationOf: sender.destinationOf,
  };
}

/**
 * Returns a function that makes a certificate for a name, which this process trusts after `trust`.
 * Files and trust end with the test.
 */
export function startAuthorities() {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-broker-tls-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  onTestFinished(() => setDefaultCACertificates([...rootCertificates]));
  const year = 365 * 86_400_000;
  const certificates: string[] = [];
  return {
    certify(name: string, more: Pick<CertificateOptions, 'issuer' | 'isAuthority'> = {}) {
      // Different subjects, because issuers are found by subject.
      const commonName = `authority-${certificates.length}`;
      const certified = createCertificate({
        commonName,
        names: [name],
        validFrom: new Date(Date.now() - year),
        expiresAt: new Date(Date.now() + year),
        ...more,
      });
      const { key, cert } = certified;
      certificates.push(cert);
      const file = join(folder, commonName);
      const files = { key: `${file}.key`, cert: `${file}.crt` };
      writeFileSync(files.key, key);
      writeFileSync(files.cert, cert);
      return { certified, files };
    },
    trust: () => setDefaultCACertificates([...rootCertificates, ...certificates]),
  };
}
