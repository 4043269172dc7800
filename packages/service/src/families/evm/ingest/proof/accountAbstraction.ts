/** Encodes transactions of account abstraction (EIP-8130), which Base uses. */
import { type Json, toList, toObject } from '../../../../ingest/json.ts';
import { bytesOf, optionalBytes, quantityOf } from './fields.ts';
import type { RlpItem } from './rlp.ts';

/**
 * Returns the lists of fields that a transaction may have: nodes return the sender of every
 * transaction, and calls had no value at first. Empty if a part is unknown.
 */
export function toAccountAbstractionFields(transaction: Json): RlpItem[][] {
  // Some nodes return the fields in an object of their own.
  const body = toObject(transaction['tx'] ?? transaction, 'tx');
  const changes = toList(body['accountChanges'] ?? [], 'accountChanges').map(toChange);
  if (changes.includes(undefined)) return [];
  const senders = [
    ...(body['sender'] == null ? [Buffer.alloc(0)] : [bytesOf(body, 'sender')]),
    ...(body['from'] == null ? [] : [bytesOf(body, 'from')]),
  ];
  return senders.flatMap((sender) =>
    [true, false].map((hasValue) => [
      quantityOf(body, 'chainId'),
      sender,
      quantityOf(body, 'nonceKey'),
      quantityOf(body, body['nonceSequence'] == null ? 'nonce' : 'nonceSequence'),
      ...(body['validBefore'] == null ? ['expiry'] : ['validAfter', 'validBefore']).map((key) =>
        quantityOf(body, key),
      ),
      quantityOf(body, 'maxPriorityFeePerGas'),
      quantityOf(body, 'maxFeePerGas'),
      quantityOf(body, body['gasLimit'] == null ? 'gas' : 'gasLimit'),
      (changes as RlpItem[][]).flat(),
      toList(body['calls'] ?? [], 'calls').map((phase) =>
        toList(phase, 'phase').map((item) => toCallFields(toObject(item, 'call'), hasValue)),
      ),
      ...('metadata' in body ? [optionalBytes(body, 'metadata')] : []),
      toPayer(body),
      optionalBytes(transaction, 'senderAuth'),
      optionalBytes(transaction, 'payerAuth'),
    ]),
  );
}

const toCallFields = (call: Json, hasValue: boolean): RlpItem => [
  bytesOf(call, 'to'),
  ...(hasValue ? [quantityOf(call, 'value')] : []),
  optionalBytes(call, 'data'),
];

/** Any account may pay if the payer is the zero address, which is encoded as one byte. */
function toPayer(body: Json): Buffer {
  const payer = optionalBytes(body, 'payer');
  return payer.length > 0 && payer.every((byte) => byte === 0) ? Buffer.of(0) : payer;
}

/** Encodes a change of an account as its type and its fields; undefined if its type is unknown. */
function toChange(item: unknown): RlpItem[] | undefined {
  const change = toObject(item, 'account change');
  switch (change['type']) {
    case 'create':
      return [
        Buffer.of(0),
        [
          bytesOf(change, 'userSalt'),
          bytesOf(change, 'code'),
          toList(change['initialActors'], 'initialActors').map((each) => {
            const actor = toObject(each, 'actor');
            return [
              bytesOf(actor, 'actorId'),
              bytesOf(actor, 'authenticator'),
              quantityOf(actor, 'scope'),
              bytesOf(actor, 'policyData'),
            ];
          }),
        ],
      ];
    case 'delegation':
      return [Buffer.of(2), [bytesOf(change, 'target')]];
    default:
      return undefined;
  }
}
