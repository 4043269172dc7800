/** Explains certificate errors of OpenSSL and Node, and names the setting that helps. */

const TRUST =
  'to trust its certificate authority, start the service with NODE_EXTRA_CA_CERTS=FILE, its certificate in PEM';
const COMPLETE = `let the server send its complete chain, or, ${TRUST}`;
const RENEW = 'renew it, or correct the clock of this host';

interface CertificateFault {
  code: string;
  wrong: string;
  fix: string;
}

/** Faults of certificates and their fixes, by error code. */
const CERTIFICATE_ERRORS: Readonly<Record<string, Omit<CertificateFault, 'code'>>> = {
  CERT_HAS_EXPIRED: { wrong: 'has expired, or one in its chain has', fix: RENEW },
  CERT_NOT_YET_VALID: { wrong: 'is not valid yet, or one in its chain is not', fix: RENEW },
  CERT_REVOKED: { wrong: 'has been revoked', fix: 'replace it' },
  DEPTH_ZERO_SELF_SIGNED_CERT: {
    wrong: 'is self-signed',
    fix: 'to trust it, start the service with NODE_EXTRA_CA_CERTS=FILE, this certificate in PEM',
  },
  SELF_SIGNED_CERT_IN_CHAIN: {
    wrong: 'chains to a certificate authority that is not trusted here',
    fix: TRUST,
  },
  UNABLE_TO_GET_ISSUER_CERT: {
    wrong: 'has an incomplete chain or an issuer that is not trusted here',
    fix: COMPLETE,
  },
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: {
    wrong: 'has an incomplete chain or an issuer that is not trusted here',
    fix: COMPLETE,
  },
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: {
    wrong: 'has an incomplete chain or an issuer that is not trusted here',
    fix: COMPLETE,
  },
  ERR_TLS_CERT_ALTNAME_INVALID: {
    wrong: 'is for other names',
    fix: 'use one of these names in the URL, or a certificate for this one',
  },
};

/** Codes of certificate errors by the messages of OpenSSL, for errors that lost their code. */
const MESSAGES: readonly (readonly [message: RegExp, code: string])[] = [
  [/self-signed certificate in certificate chain/, 'SELF_SIGNED_CERT_IN_CHAIN'],
  [/self-signed certificate/, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  [/unable to get (local )?issuer certificate/, 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY'],
  [/unable to verify the first certificate/, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  [/certificate has expired/, 'CERT_HAS_EXPIRED'],
  [/certificate is not yet valid/, 'CERT_NOT_YET_VALID'],
];

/** Returns the innermost cause of an error. */
export function causeOf(error: unknown): unknown {
  let inner = error;
  while (inner instanceof Error && inner.cause instanceof Error) inner = inner.cause;
  return inner;
}

/**
 * Returns what is wrong with the certificate that an error or its cause rejected, and what helps;
 * undefined for any other error.
 */
export function findCertificateFault(error: unknown): CertificateFault | undefined {
  const inner = causeOf(error);
  if (!(inner instanceof Error)) return undefined;
  const given = 'code' in inner ? String(inner.code) : '';
  const code =
    given in CERTIFICATE_ERRORS
      ? given
      : MESSAGES.find(([message]) => message.test(inner.message))?.[1];
  return code === undefined ? undefined : { code, ...CERTIFICATE_ERRORS[code]! };
}
