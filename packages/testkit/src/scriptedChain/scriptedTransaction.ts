import type { Address, Hex } from 'viem';

export interface ScriptedLog {
  address: Address;
  /** At most 4 topics, of 32 bytes each. */
  topics: readonly Hex[];
  /** Default: `0x`. */
  data?: Hex;
}

/** A call that a contract makes within a transaction. Only traces contain it. */
export interface ScriptedInternalCall {
  from: Address;
  to: Address;
  /** Wei. Default: 0. */
  value?: bigint;
  /** Default: `0x`. */
  input?: Hex;
  /** Default: `CALL`. */
  type?: 'CALL' | 'DELEGATECALL' | 'STATICCALL' | 'CREATE' | 'SELFDESTRUCT';
  /** Nested calls. Default: none. */
  calls?: readonly ScriptedInternalCall[];
}

/**
 * A transaction to mine. If the same object is mined again on another branch, it has the same hash,
 * like a transaction that survives a reorg.
 */
export interface ScriptedTransaction {
  /** Default: an address derived from the chain's seed. */
  from?: Address;
  /** If null or omitted, the transaction creates a contract. */
  to?: Address | null;
  /** Wei. Default: 0. */
  value?: bigint;
  /** Default: `0x`. */
  input?: Hex;
  /** Default: none. */
  logs?: readonly ScriptedLog[];
  /**
   * Internal calls, which `debug_traceBlockByHash` and `debug_traceBlockByNumber` return. Default:
   * none.
   */
  calls?: readonly ScriptedInternalCall[];
  /** Default: `success`; a `reverted` transaction must have no logs. */
  status?: 'success' | 'reverted';
  /** Default: 21,000, plus 10,000 for each log. */
  gasUsed?: bigint;
  /** Default: `eip1559`. */
  type?: 'legacy' | 'eip1559';
}

const erc20Transfer = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

/** Functions that create common transactions. */
export const scripted = {
  /** Transfers the native coin; `value` is in wei. */
  transfer: ({ from, to, value }: { from: Address; to: Address; value: bigint }) =>
    ({ from, to, value }) satisfies ScriptedTransaction,

  /**
   * Calls `transfer(to, value)` of an ERC-20 token, which emits `Transfer`; `value` is in the
   * token's smallest unit.
   */
  erc20Transfer: (transfer: { token: Address; from: Address; to: Address; value: bigint }) =>
    ({
      from: transfer.from,
      to: transfer.token,
      input: `0xa9059cbb${wordOf(transfer.to)}${wordOf(transfer.value)}`,
      logs: [
        {
          address: transfer.token,
          topics: [erc20Transfer, `0x${wordOf(transfer.from)}`, `0x${wordOf(transfer.to)}`],
          data: `0x${wordOf(transfer.value)}`,
        },
      ],
    }) satisfies ScriptedTransaction,

  /** Calls the contract at `address`, which emits one log. */
  log: ({ address, topics, data = '0x' }: ScriptedLog) =>
    ({ to: address, logs: [{ address, topics, data }] }) satisfies ScriptedTransaction,

  /** Creates a contract, whose address depends on the sender and the nonce. */
  creation: ({ from, input = '0x00' }: { from: Address; input?: Hex }) =>
    ({ from, to: null, input }) satisfies ScriptedTransaction,

  /** Returns the same transaction, but reverted, so that it emits no logs. */
  reverted: (transaction: ScriptedTransaction) =>
    ({ ...transaction, logs: [], status: 'reverted' }) satisfies ScriptedTransaction,
};

/** Encodes a value as 32 bytes in hex, without `0x`. */
function wordOf(value: Address | bigint): string {
  const hex = typeof value === 'bigint' ? value.toString(16) : value.slice(2).toLowerCase();
  return hex.padStart(64, '0');
}
