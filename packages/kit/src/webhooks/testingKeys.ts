/** Key pairs and Ed25519 signatures (`v1a`) for tests. */
import { fromBase64, toSignedText, WEBHOOK_HEADERS } from '../contract/rules/signature.ts';
import { SluiceError } from '../errors.ts';

/** An Ed25519 key pair, as in Standard Webhooks. */
export interface KeyPair {
  /** `whpk_` and base64, for `unwrapWithPublicKey` and `createHandler`. */
  readonly publicKey: string;
  /** `whsk_` and base64, for {@link signWithPrivateKey}. */
  readonly privateKey: string;
}

/** Creates a key pair. */
export async function createKeyPair(): Promise<KeyPair> {
  const pair = (await crypto.subtle.generateKey('Ed25519', true, ['sign'])) as Record<
    'publicKey' | 'privateKey',
    CryptoKey
  >;
  const publicKey = new Uint8Array(await crypto.subtle.exportKey('raw', pair.publicKey));
  const { d = '' } = await crypto.subtle.exportKey('jwk', pair.privateKey);
  const seed = fromBase64(d.replaceAll('-', '+').replaceAll('_', '/')) ?? [];
  return {
    publicKey: `whpk_${toBase64(publicKey)}`,
    privateKey: `whsk_${toBase64(Uint8Array.of(...seed, ...publicKey))}`,
  };
}

/** Bytes before the seed of an Ed25519 key in PKCS #8 (RFC 8410). */
const PKCS8 = [48, 46, 2, 1, 0, 48, 5, 6, 3, 43, 101, 112, 4, 34, 4, 32];
const SEED_BYTES = 32;

/** Returns a copy of a request from {@link signedRequest} with an additional Ed25519 signature. */
export async function signWithPrivateKey(request: Request, privateKey: string): Promise<Request> {
  const bytes = privateKey.startsWith('whsk_') ? fromBase64(privateKey.slice(5)) : undefined;
  if (bytes?.length !== SEED_BYTES && bytes?.length !== 2 * SEED_BYTES) {
    throw new SluiceError('invalid_argument', 'privateKey must be whsk_ and base64', {
      hint: 'Create one with createKeyPair().',
    });
  }
  const pkcs8 = Uint8Array.of(...PKCS8, ...bytes.subarray(0, SEED_BYTES));
  const key = await crypto.subtle.importKey('pkcs8', pkcs8, 'Ed25519', false, ['sign']);
  const headers = new Headers(request.headers);
  const id = headers.get(WEBHOOK_HEADERS.id) ?? '';
  const timestamp = Number(headers.get(WEBHOOK_HEADERS.timestamp));
  const body = new Uint8Array(await request.clone().arrayBuffer());
  const text = toSignedText({ id, timestamp }, body) as Uint8Array<ArrayBuffer>;
  const signature = await crypto.subtle.sign('Ed25519', key, text);
  const others = headers.get(WEBHOOK_HEADERS.standardSignature) ?? '';
  const own = `v1a,${toBase64(new Uint8Array(signature))}`;
  headers.set(WEBHOOK_HEADERS.standardSignature, `${others} ${own}`.trim());
  return new Request(request, { headers });
}

const toBase64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes));
