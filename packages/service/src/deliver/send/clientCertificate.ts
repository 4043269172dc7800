/**
 * The certificate that the service presents to receivers that request one (mutual TLS). It is read
 * again while the service runs, because such certificates often expire within weeks.
 */
import { X509Certificate, createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { configError } from '../../base/errors.ts';
import { type Log, describeError } from '../../base/log.ts';

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
/** Remaining validity below which the operator is warned. */
const SOON_MS = 14 * 24 * 3_600_000;

/**
 * Opens the certificate of `--client-cert` and `--client-key`; returns undefined without these
 * flags.
 *
 * @param checkMs interval at which the files are checked for changes
 * @throws CallerError if only one file is given, or they contain no certificate with its key
 */
export function openClientCertificate(
  {
    clientCertFile,
    clientKeyFile,
  }: { clientCertFile?: string | undefined; clientKeyFile?: string | undefined },
  log: Log,
  checkMs = CHECK_MS,
): ClientCertificate | undefined {
  if (clientCertFile === undefined && clientKeyFile === undefined) return undefined;
  if (clientCertFile === undefined || clientKeyFile === undefined) {
    const [given, missing] =
      clientCertFile === undefined
        ? ['--client-key', '--client-cert']
        : ['--client-cert', '--client-key'];
    throw configError(
      `${given}: needs ${missing}, because a certificate and its key belong together`,
    );
  }
  let { certified: current, expiresAt } = readCertifiedKey(clientCertFile, clientKeyFile);
  let failure: string | undefined;
  const timer = setInterval(() => {
    try {
      const next = readCertifiedKey(clientCertFile, clientKeyFile);
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
      return `the client certificate ${leftMs <= 0 ? 'expired' : 'expires'} on ${day}: replace the files of --client-cert and --client-key`;
    },
    stop: () => clearInterval(timer),
  };
}

function readCertifiedKey(
  certFile: string,
  keyFile: string,
): { certified: CertifiedKey; expiresAt: number } {
  const cert = readFile('--client-cert', certFile);
  const key = readFile('--client-key', keyFile);
  try {
    createSecureContext({ cert, key });
    // A secure context accepts empty strings, and files are empty while they are being replaced.
    const certificate = new X509Certificate(cert);
    if (!certificate.checkPrivateKey(createPrivateKey(key))) throw new Error('keys differ');
    return { certified: { cert, key }, expiresAt: certificate.validToDate.getTime() };
  } catch (error) {
    throw configError(
      `--client-cert ${certFile}: should be a certificate in PEM, and --client-key its key, not encrypted: ${describeError(error)}`,
    );
  }
}

function readFile(flag: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw configError(`${flag} ${path}: cannot be read: ${describeError(error)}`);
  }
}
