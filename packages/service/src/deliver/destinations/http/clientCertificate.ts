/**
 * The certificate that the service presents to receivers that request one (mutual TLS). It is read
 * again while the service runs, because such certificates often expire within weeks.
 */
import { X509Certificate, createPrivateKey } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { configError } from '../../../config/configError.ts';
import { type Log, describeError } from '../../../base/log.ts';
import { flagOf } from '../../../config/settings.ts';
import { readRegularFile } from '../../../base/regularFile.ts';

/** A certificate chain and its private key, in PEM. */
export interface CertifiedKey {
  cert: string;
  key: string;
}

export interface ClientCertificate {
  /** Returns the current certificate; the same object until the files change. */
  read(): CertifiedKey;
  /** Returns the expiry of the current certificate, in Unix milliseconds. */
  expiresAt(): number;
  /** Returns why the certificate must be renewed; undefined if it is valid for long enough. */
  expiring(): string | undefined;
  stop(): void;
}

const CHECK_MS = 10_000;
/** Maximum size of a file. A chain of four certificates with long names has about 10 kB. */
const MAX_FILE_BYTES = 1024 * 1024;
/** Remaining validity below which the operator is warned. */
const SOON_MS = 14 * 24 * 3_600_000;

/**
 * Opens the configured certificate and its key; returns undefined if there is none.
 *
 * @param checkMs interval at which the files are checked for changes
 * @throws CallerError if only one file is given, or they contain no certificate with its key
 */
export function openClientCertificate(
  { clientCert, clientKey }: { clientCert?: string | undefined; clientKey?: string | undefined },
  log: Log,
  checkMs = CHECK_MS,
): ClientCertificate | undefined {
  if (clientCert === undefined && clientKey === undefined) return undefined;
  if (clientCert === undefined || clientKey === undefined) {
    const [setting, missing] =
      clientCert === undefined
        ? (['clientKey', 'clientCert'] as const)
        : (['clientCert', 'clientKey'] as const);
    throw configError({
      setting,
      problem: `needs ${flagOf(missing)}, because a certificate and its key belong together`,
    });
  }
  let { certified: current, expiresAt } = readCertifiedKey(clientCert, clientKey);
  let failure: string | undefined;
  const timer = setInterval(() => {
    try {
      const next = readCertifiedKey(clientCert, clientKey);
      failure = undefined;
      const { cert, key } = next.certified;
      if (cert === current.cert && key === current.key) return;
      ({ certified: current, expiresAt } = next);
      log.info('client certificate replaced', { expiresAt: new Date(expiresAt).toISOString() });
    } catch (error) {
      // The last certificate remains in use, because the files may be in the middle of a renewal.
      const reason = describeError(error);
      if (reason !== failure) log.warn('client certificate not replaced', { reason });
      failure = reason;
    }
  }, checkMs);
  timer.unref();

  return {
    read: () => current,
    expiresAt: () => expiresAt,
    expiring() {
      const leftMs = expiresAt - Date.now();
      if (leftMs >= SOON_MS) return undefined;
      const day = new Date(expiresAt).toISOString().slice(0, 10);
      return `the client certificate ${leftMs <= 0 ? 'expired' : 'expires'} on ${day}: replace the files of ${flagOf('clientCert')} and ${flagOf('clientKey')}`;
    },
    stop: () => clearInterval(timer),
  };
}

function readCertifiedKey(
  certFile: string,
  keyFile: string,
): { certified: CertifiedKey; expiresAt: number } {
  const cert = readFile('clientCert', certFile);
  const key = readFile('clientKey', keyFile);
  try {
    createSecureContext({ cert, key });
    // A secure context accepts empty strings, and files are empty while they are being replaced.
    const certificate = new X509Certificate(cert);
    if (!certificate.checkPrivateKey(createPrivateKey(key))) throw new Error('keys differ');
    return { certified: { cert, key }, expiresAt: certificate.validToDate.getTime() };
  } catch (error) {
    throw configError({
      setting: 'clientCert',
      value: certFile,
      problem: `should be a certificate in PEM, and ${flagOf('clientKey')} its key, not encrypted: ${describeError(error)}`,
    });
  }
}

function readFile(setting: 'clientCert' | 'clientKey', path: string): string {
  try {
    return readRegularFile(path, MAX_FILE_BYTES);
  } catch (error) {
    throw configError({
      setting,
      value: path,
      problem: `cannot be read: ${describeError(error)}`,
    });
  }
}
