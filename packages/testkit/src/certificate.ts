/**
 * Creates X.509 certificates for TLS servers, either self-signed or signed by another certificate
 * from this module.
 */
import { createPrivateKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

export interface CertificateOptions {
  commonName: string;
  /** DNS names for which the certificate is valid. Default: none. */
  names?: readonly string[];
  validFrom: Date;
  expiresAt: Date;
  /** The certificate and key that sign the new certificate. Default: self-signed. */
  issuer?: CertifiedKey;
  /** Whether the certificate is a certificate authority. Default: false. */
  isAuthority?: boolean;
}

export interface CertifiedKey {
  commonName: string;
  /** Private key in PEM. */
  key: string;
  /** Certificate in PEM. */
  cert: string;
}

/** Creates a P-256 key and its certificate (RFC 5280), signed with ECDSA and SHA-256. */
export function createCertificate({
  commonName,
  names = [],
  validFrom,
  expiresAt,
  issuer,
  isAuthority = false,
}: CertificateOptions): CertifiedKey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' });
  const alternatives = sequence(...names.map((name) => der(0x82, Buffer.from(name, 'ascii'))));
  const tbs = sequence(
    der(0xa0, integer(Buffer.of(2))),
    integer(Buffer.concat([Buffer.of(1), randomBytes(15)])),
    ECDSA_WITH_SHA256,
    nameOf(issuer?.commonName ?? commonName),
    sequence(timeOf(validFrom), timeOf(expiresAt)),
    nameOf(commonName),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(
      0xa3,
      sequence(
        extension(BASIC_CONSTRAINTS, isAuthority ? sequence(TRUE) : sequence()),
        ...(names.length === 0 ? [] : [extension(SUBJECT_ALT_NAME, alternatives)]),
      ),
    ),
  );
  const signature = sign('sha256', tbs, createPrivateKey(issuer?.key ?? key));
  const certificate = sequence(tbs, ECDSA_WITH_SHA256, bits(signature));
  const lines = certificate.toString('base64').replaceAll(/.{1,64}/g, '$&\n');
  const cert = `-----BEGIN CERTIFICATE-----\n${lines}-----END CERTIFICATE-----\n`;
  return { commonName, key, cert };
}

function der(tag: number, ...contents: Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  if (length < 128) return Buffer.concat([Buffer.of(tag, length), content]);
  // DER requires the shortest form of a length.
  if (length < 256) return Buffer.concat([Buffer.of(tag, 0x81, length), content]);
  return Buffer.concat([Buffer.of(tag, 0x82, length >> 8, length & 0xff), content]);
}

const sequence = (...contents: Buffer[]): Buffer => der(0x30, ...contents);
const integer = (bytes: Buffer): Buffer => der(0x02, bytes);
/** Encodes a DER bit string without unused bits. */
const bits = (bytes: Buffer): Buffer => der(0x03, Buffer.of(0), bytes);
const objectId = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));
const TRUE = der(0x01, Buffer.of(0xff));

const COMMON_NAME = objectId('550403');
const BASIC_CONSTRAINTS = objectId('551d13');
const SUBJECT_ALT_NAME = objectId('551d11');
const ECDSA_WITH_SHA256 = sequence(objectId('2a8648ce3d040302'));

const extension = (id: Buffer, value: Buffer): Buffer => sequence(id, der(0x04, value));

const nameOf = (commonName: string): Buffer =>
  sequence(der(0x31, sequence(COMMON_NAME, der(0x0c, Buffer.from(commonName, 'utf8')))));

/** Encodes a time in DER as `YYYYMMDDHHMMSSZ`. */
const timeOf = (time: Date): Buffer =>
  der(0x18, Buffer.from(`${time.toISOString().replaceAll(/[-:T]|\..*/g, '')}Z`, 'ascii'));
