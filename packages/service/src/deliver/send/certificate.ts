/** A receiver's certificate: what it says, and in which words it is refused. */
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { type ReceiverCertificate, cutText } from '@sluice/kit/contract';

/** How soon it expires depends on when one asks. */
export type ShownCertificate = Omit<ReceiverCertificate, 'expiresSoon'>;

/** What comes from a receiver is bounded. */
const NAMES = 20;
const NAME_LENGTH = 255;

/** Null where there is none, as without TLS. */
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

/** It may have none of its own. */
const toLine = (name: string | undefined): string =>
  cutText((name ?? '').replaceAll('\n', ', '), NAME_LENGTH);

/** What OpenSSL and Node find wrong with a certificate, by their codes. */
const REFUSALS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'has expired, or one that signed it has',
  CERT_NOT_YET_VALID: 'is not valid yet, or one that signed it is not',
  CERT_REVOKED: 'was revoked',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'is signed by itself alone',
  SELF_SIGNED_CERT_IN_CHAIN: 'leads to an authority that is not trusted here',
  UNABLE_TO_GET_ISSUER_CERT:
    'comes without the ones that signed it, or from nobody that is trusted here',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    'comes without the ones that signed it, or from nobody that is trusted here',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'comes without the ones that signed it, or from nobody that is trusted here',
};

/** Why a certificate was refused, for people; undefined of an error that is about something else. */
export function explainRefusal(
  error: Error,
  {
    hostname,
    certificate,
    address,
  }: { hostname: string; certificate: ShownCertificate | null; address: string | null },
): string | undefined {
  const code = 'code' in error ? String(error.code) : '';
  if (certificate === null) return undefined;
  const day = (timeMs: number): string => new Date(timeMs).toISOString().slice(0, 10);
  const { subject, issuer, names, validFrom, expiresAt } = certificate;
  const wrong = code === 'ERR_TLS_CERT_ALTNAME_INVALID' ? `is not for ${hostname}` : REFUSALS[code];
  if (wrong === undefined) return undefined;
  const said = [
    subject,
    `for ${names.length === 0 ? 'no name' : names.join(', ')}`,
    `valid from ${day(validFrom)} to ${day(expiresAt)}`,
    `signed by ${issuer}`,
    ...(address === null ? [] : [`at ${address}`]),
  ].filter((part) => part !== '');
  return `the certificate ${wrong}: ${said.join('; ')}`;
}
