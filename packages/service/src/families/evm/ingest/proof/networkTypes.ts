/** Encodes the transaction types of networks other than Ethereum. */
import { type Json, toObject } from '../../../../ingest/json.ts';
import {
  accessListOf,
  bytesOf,
  callOf,
  feeMarketFieldsOf,
  feesOf,
  optionalBytes,
  quantityOf,
  signatureOf,
} from './fields.ts';
import type { RlpItem } from './rlp.ts';

/** Encoders by transaction type. An encoder returns undefined if it lacks a part. */
export const NETWORK_TYPES: Readonly<Record<string, (body: Json) => RlpItem[] | undefined>> = {
  // Stable.
  '0x3f': (body) => [
    ...feeMarketFieldsOf(body),
    ...signatureOf(body),
    quantityOf(body, 'nonceKey'),
    quantityOf(body, 'timeoutTimestamp'),
  ],
  // Arbitrum: deposit, transaction of an L1 contract's user, of an L1 contract, retry, submission
  // of a retryable ticket, and the internal transaction that starts a block.
  '0x64': (body) => [
    quantityOf(body, 'chainId'),
    bytesOf(body, 'requestId'),
    bytesOf(body, 'from'),
    bytesOf(body, 'to'),
    quantityOf(body, 'value'),
  ],
  '0x65': (body) => [
    quantityOf(body, 'chainId'),
    bytesOf(body, 'from'),
    quantityOf(body, 'nonce'),
    ...arbitrumCallOf(body),
  ],
  '0x66': (body) => [
    quantityOf(body, 'chainId'),
    bytesOf(body, 'requestId'),
    bytesOf(body, 'from'),
    ...arbitrumCallOf(body),
  ],
  '0x68': (body) => [
    quantityOf(body, 'chainId'),
    quantityOf(body, 'nonce'),
    bytesOf(body, 'from'),
    ...arbitrumCallOf(body),
    bytesOf(body, 'ticketId'),
    bytesOf(body, 'refundTo'),
    quantityOf(body, 'maxRefund'),
    quantityOf(body, 'submissionFeeRefund'),
  ],
  '0x69': (body) => [
    quantityOf(body, 'chainId'),
    bytesOf(body, 'requestId'),
    bytesOf(body, 'from'),
    quantityOf(body, 'l1BaseFee'),
    quantityOf(body, 'depositValue'),
    feeCapOf(body),
    quantityOf(body, 'gas'),
    optionalBytes(body, 'retryTo'),
    quantityOf(body, 'retryValue'),
    bytesOf(body, 'beneficiary'),
    quantityOf(body, 'maxSubmissionFee'),
    bytesOf(body, 'refundTo'),
    optionalBytes(body, 'retryData'),
  ],
  '0x6a': (body) => [quantityOf(body, 'chainId'), bytesOf(body, 'input')],
  // Celo: CIP-66, CIP-64 and CIP-42.
  '0x7a': (body) => [
    ...feeMarketFieldsOf(body),
    optionalBytes(body, 'feeCurrency'),
    quantityOf(body, 'maxFeeInFeeCurrency'),
    ...signatureOf(body),
  ],
  '0x7b': (body) => [
    ...feeMarketFieldsOf(body),
    optionalBytes(body, 'feeCurrency'),
    ...signatureOf(body),
  ],
  '0x7c': (body) => {
    const [gas, ...call] = callOf(body);
    const fees = [...feesOf(body), gas!, ...celoFeesOf(body)];
    return [...fees, ...call, accessListOf(body), ...signatureOf(body)];
  },
  // Several networks use this type byte.
  '0x7e': (body) => {
    if ('sourceHash' in body) return toDepositFields(body);
    return 'queueIndex' in body ? toScrollFields(body) : toBerachainFields(body);
  },
  // Polygon's state sync (PIP-74). Many nodes omit its data.
  '0x7f': (body) =>
    Array.isArray(body['stateSyncData'])
      ? body['stateSyncData'].map((item) => {
          const each = toObject(item, 'state sync');
          return [
            quantityOf(each, 'id'),
            bytesOf(each, 'contract'),
            bytesOf(each, 'data'),
            bytesOf(each, 'txHash'),
          ];
        })
      : undefined,
};

const arbitrumCallOf = (body: Json): RlpItem[] => [feeCapOf(body), ...callOf(body)];

/** Reads the fee cap of an Arbitrum transaction, which some nodes return as gas price. */
const feeCapOf = (body: Json): RlpItem =>
  quantityOf(body, body['maxFeePerGas'] == null ? 'gasPrice' : 'maxFeePerGas');

/** Encodes a legacy transaction of Celo that pays fees in another currency. */
export function toCeloLegacyFields(body: Json): RlpItem[] {
  const [gas, ...call] = callOf(body);
  return [
    quantityOf(body, 'nonce'),
    quantityOf(body, 'gasPrice'),
    gas!,
    ...celoFeesOf(body),
    ...call,
    ...signatureOf(body),
  ];
}

const celoFeesOf = (body: Json): RlpItem[] => [
  optionalBytes(body, 'feeCurrency'),
  optionalBytes(body, 'gatewayFeeRecipient'),
  quantityOf(body, 'gatewayFee'),
];

/** Encodes a deposit of the OP Stack. */
const toDepositFields = (body: Json): RlpItem[] => [
  bytesOf(body, 'sourceHash'),
  bytesOf(body, 'from'),
  optionalBytes(body, 'to'),
  quantityOf(body, 'mint'),
  quantityOf(body, 'value'),
  quantityOf(body, 'gas'),
  body['isSystemTx'] === true ? Buffer.of(1) : Buffer.alloc(0),
  bytesOf(body, 'input'),
];

/** Encodes a message from L1 to Scroll. */
const toScrollFields = (body: Json): RlpItem[] => [
  quantityOf(body, 'queueIndex'),
  ...callOf(body),
  bytesOf(body, body['sender'] == null ? 'from' : 'sender'),
];

/** Encodes the transaction that distributes Berachain's rewards (BRIP-0004). */
const toBerachainFields = (body: Json): RlpItem[] => [
  quantityOf(body, 'chainId'),
  bytesOf(body, 'from'),
  bytesOf(body, 'to'),
  quantityOf(body, 'nonce'),
  quantityOf(body, 'gas'),
  quantityOf(body, 'gasPrice'),
  bytesOf(body, 'input'),
];
