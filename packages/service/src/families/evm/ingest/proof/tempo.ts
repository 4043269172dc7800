/**
 * Encodes Tempo's transactions of type 0x76, and Tempo's headers, which wrap Ethereum headers.
 *
 * @see https://github.com/tempoxyz/tempo/tree/main/crates/primitives/src
 */
import { type Json, toList, toObject } from '../../../../ingest/json.ts';
import {
  accessListOf,
  bytesOf,
  numberBytes,
  optionalBytes,
  quantityOf,
  toBytes,
} from './fields.ts';
import type { RlpItem } from './rlp.ts';

export function toTempoFields(body: Json): RlpItem[] | undefined {
  const authorizations = toList(body['aaAuthorizationList'] ?? [], 'aaAuthorizationList').map(
    toAuthorization,
  );
  const signature = toSignature(body['signature']);
  const key = toKeyAuthorization(body['keyAuthorization']);
  if (authorizations.includes(undefined) || signature === undefined || key === undefined) {
    return undefined;
  }
  return [
    quantityOf(body, 'chainId'),
    quantityOf(body, 'maxPriorityFeePerGas'),
    quantityOf(body, 'maxFeePerGas'),
    quantityOf(body, 'gas'),
    toList(body['calls'], 'calls').map((item) => {
      const call = toObject(item, 'call');
      const input = call['input'] == null ? 'data' : 'input';
      return [optionalBytes(call, 'to'), quantityOf(call, 'value'), optionalBytes(call, input)];
    }),
    accessListOf(body),
    quantityOf(body, 'nonceKey'),
    quantityOf(body, 'nonce'),
    quantityOf(body, 'validBefore'),
    quantityOf(body, 'validAfter'),
    optionalBytes(body, 'feeToken'),
    toFeePayer(body['feePayerSignature']),
    authorizations as RlpItem[],
    ...key,
    signature,
  ];
}

const KEYCHAIN_VERSIONS = new Map<unknown, number>([
  ['v1', 3],
  ['v2', 4],
]);

/** Encodes a signature; returns undefined if its kind is unknown. */
function toSignature(value: unknown): Buffer | undefined {
  const signature = toObject(value, 'signature');
  if (signature['version'] !== undefined) {
    const inner = toSignature(signature['signature']);
    const kind = KEYCHAIN_VERSIONS.get(signature['version']);
    if (inner === undefined || kind === undefined) return undefined;
    return Buffer.concat([Buffer.of(kind), bytesOf(signature, 'userAddress'), inner]);
  }
  const words = (...keys: string[]): Buffer[] => keys.map((key) => toWord(signature, key));
  switch (signature['type']) {
    case 'secp256k1': {
      const v = Number(signature['yParity']) + 27;
      return Buffer.concat([...words('r', 's'), Buffer.of(v)]);
    }
    case 'p256': {
      const isHashed = Buffer.of(signature['preHash'] === true ? 1 : 0);
      return Buffer.concat([Buffer.of(1), ...words('r', 's', 'pubKeyX', 'pubKeyY'), isHashed]);
    }
    case 'webAuthn': {
      const data = bytesOf(signature, 'webauthnData');
      return Buffer.concat([Buffer.of(2), data, ...words('r', 's', 'pubKeyX', 'pubKeyY')]);
    }
    default:
      return undefined;
  }
}

const toWord = (from: Json, key: string): Buffer => {
  const short = quantityOf(from, key);
  return Buffer.concat([Buffer.alloc(32 - short.length), short]);
};

const toFeePayer = (value: unknown): RlpItem => {
  if (value == null) return Buffer.alloc(0);
  const signature = toObject(value, 'feePayerSignature');
  return ['yParity', 'r', 's'].map((key) => quantityOf(signature, key));
};

/** Encodes a delegation of an account; undefined if the kind of its signature is unknown. */
function toAuthorization(item: unknown): RlpItem | undefined {
  const each = toObject(item, 'authorization');
  const signature = toSignature(each['signature']);
  if (signature === undefined) return undefined;
  return [
    quantityOf(each, 'chainId'),
    bytesOf(each, 'address'),
    quantityOf(each, 'nonce'),
    signature,
  ];
}

const KEY_TYPES = ['secp256k1', 'p256', 'webAuthn'];

/**
 * Encodes a key authorization as a list of one item; returns an empty list if there is none,
 * undefined if its encoding is unknown.
 */
function toKeyAuthorization(value: unknown): RlpItem[] | undefined {
  if (value == null) return [];
  const key = toObject(value, 'keyAuthorization');
  const type = KEY_TYPES.findIndex((each) => each === key['keyType']);
  const signature = toSignature(key['signature']);
  if (type < 0 || signature === undefined) return undefined;
  const optional: RlpItem[] = [
    quantityOf(key, 'expiry'),
    key['limits'] == null ? Buffer.alloc(0) : toList(key['limits'], 'limits').map(toLimit),
    key['allowedCalls'] == null
      ? Buffer.alloc(0)
      : toList(key['allowedCalls'], 'allowedCalls').map(toAllowedCall),
    optionalBytes(key, 'witness'),
    key['isAdmin'] === true ? Buffer.of(1) : Buffer.alloc(0),
    optionalBytes(key, 'account'),
  ];
  while (optional.at(-1)?.length === 0 && optional.at(-1) instanceof Uint8Array) optional.pop();
  const fields = [quantityOf(key, 'chainId'), numberBytes(type), bytesOf(key, 'keyId')];
  return [[[...fields, ...optional], signature]];
}

const toLimit = (item: unknown): RlpItem => {
  const limit = toObject(item, 'limit');
  const period = quantityOf(limit, 'period');
  const fields = [bytesOf(limit, 'token'), quantityOf(limit, 'limit')];
  return period.length === 0 ? fields : [...fields, period];
};

const toAllowedCall = (item: unknown): RlpItem => {
  const call = toObject(item, 'allowed call');
  const rules = toList(call['selectorRules'], 'selectorRules').map((each) => {
    const rule = toObject(each, 'selector rule');
    const recipients = toList(rule['recipients'] ?? [], 'recipients');
    return [bytesOf(rule, 'selector'), recipients.map(toBytes)];
  });
  return [bytesOf(call, 'target'), rules];
};

/**
 * Wraps the fields of an Ethereum header as Tempo does; returns undefined for headers of other
 * chains.
 */
export function toTempoHeader(block: Json, fields: RlpItem[]): RlpItem[] | undefined {
  if (block['mainBlockGeneralGasLimit'] == null) return undefined;
  const own = ['mainBlockGeneralGasLimit', 'sharedGasLimit', 'timestampMillisPart'];
  const wrapped = [...own.map((name) => quantityOf(block, name)), fields];
  if (block['consensusContext'] == null) return wrapped;
  const context = toObject(block['consensusContext'], 'consensusContext');
  const numbers = ['epoch', 'view', 'parentView'].map((name) => numberBytes(Number(context[name])));
  return [...wrapped, [...numbers, bytesOf(context, 'proposer')]];
}
