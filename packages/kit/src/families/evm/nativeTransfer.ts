/** Native currency of EVM chains, and the logs that record its transfers. */

/**
 * The address that emits the logs of native transfers (EIP-7708). It is not a contract.
 */
export const NATIVE_EMITTER = '0xfffffffffffffffffffffffffffffffffffffffe';

/** The native currency has 18 decimals on every EVM chain. */
export const NATIVE_DECIMALS = 18;

/** A transfer of native currency. */
export interface NativeTransfer {
  readonly from: string;
  readonly to: string;
  /** Amount in wei. */
  readonly value: bigint;
}

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const WORD = /^0x[0-9a-f]{64}$/i;

/**
 * Returns the transfer of native currency that a log records; undefined for any other log. Such a
 * log has the topics and data of an ERC-20 transfer, but the payment is also the value of a
 * transaction or of an internal transaction.
 */
export function toNativeTransfer({
  address,
  topics,
  data,
}: {
  readonly address: string;
  readonly topics: readonly (string | null)[];
  readonly data: string;
}): NativeTransfer | undefined {
  if (address.toLowerCase() !== NATIVE_EMITTER) return undefined;
  const [event, from, to, other] = topics;
  if (event?.toLowerCase() !== TRANSFER || !from || !to || other || !WORD.test(data)) {
    return undefined;
  }
  const read = (topic: string): string => `0x${topic.slice(26).toLowerCase()}`;
  return { from: read(from), to: read(to), value: BigInt(data) };
}
