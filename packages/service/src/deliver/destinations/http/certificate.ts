/** Describes a receiver's certificate, and explains why one was rejected. */
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { type ReceiverCertificate, cutText } from '@sluice/kit/contract';
import { findCertificateFault } from '../../../base/certificateErrors.ts';
import { cleanLine } from '../../../base/foreignText.ts';
import { flagOf } from '../../../config/settings.ts';

/** A certificate without `expiresSoon`, which depends on the current time. */
export type ShownCertificate = Omit<ReceiverCertificate, 'expiresSoon'>;

/** Maximum number of stored names, and maximum length of a name. A certificate may exceed both. */
const NAMES = 20;
const NAME_LENGTH = 255;

/** Returns the certificate of the peer; null if there is none, for example without TLS. */
export function readCertificate(socket: Socket): ShownCertificate | null {
  const certificate = socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined;
  if (certificate === undefined) return null;
  const names = certificate.subjectAltName?.split(', ') ?? [];
  return {
    subject: toLine(certificate.subject),
    issuer: toLine(certificate.issuer),
    names: names.slice(0, NAMES).map((name) => toLine(name.replace(/^(DNS|IP Address|URI):/, ''))),
    validFrom: certificate.validFromDate.getTime(),
    expiresAt: certificate.validToDate.getTime(),
  };
}

/** Puts a name on one line of limited length. A certificate may lack a subject or issuer name. */
const toLine = (name: string | undefined): string =>
  cutText(cleanLine((name ?? '').replaceAll('\n', ', ')), NAME_LENGTH);

/** Explanations for TLS alerts about the client certificate, by the end of Node's error code. */
const ALERTS: Readonly<Record<string, string>> = {
  CERTIFICATE_REQUIRED: `the receiver requires a client certificate: start the service with ${flagOf('clientCert')} and ${flagOf('clientKey')}`,
  // Servers in Go send this without a client certificate, too.
  BAD_CERTIFICATE: `the receiver rejects the client certificate, or requires one: start the service with ${flagOf('clientCert')} and ${flagOf('clientKey')}`,
  UNKNOWN_CA: 'the receiver does not trust the issuer of the client certificate',
  CERTIFICATE_EXPIRED: `the receiver reports that the client certificate has expired: replace the files of ${flagOf('clientCert')} and ${flagOf('clientKey')}`,
};

/**
 * Explains the TLS alert of a receiver that rejects the client certificate, or requires one;
 * returns undefined for other errors.
 */
export function explainAlert(error: Error): string | undefined {
  const code = 'code' in error ? String(error.code) : '';
  return ALERTS[code.split('_ALERT_')[1] ?? ''];
}

/**
 * Explains why a certificate was rejected; returns undefined if none was received or the error has
 * another cause.
 */
export function explainRefusal(
  error: Error,
  {
    hostname,
    certificate,
    address,
  }: { hostname: string; certificate: ShownCertificate | null; address: string | null },
): string | undefined {
  const fault = findCertificateFault(error);
  if (certificate === null || fault === undefined) return undefined;
  const day = (timeMs: number): string => new Date(timeMs).toISOString().slice(0, 10);
  const { subject, issuer, names, validFrom, expiresAt } = certificate;
  const wrong =
    fault.code === 'ERR_TLS_CERT_ALTNAME_INVALID' ? `is not for ${hostname}` : fault.wrong;
  const details = [
    subject,
    `for ${names.length === 0 ? 'no names' : names.join(', ')}`,
    `valid from ${day(validFrom)} to ${day(expiresAt)}`,
    `signed by ${issuer}`,
    ...(address === null ? [] : [`at ${address}`]),
  ].filter((part) => part !== '');
  return `the certificate ${wrong}: ${details.join('; ')}. Fix: ${fault.fix}`;
}
