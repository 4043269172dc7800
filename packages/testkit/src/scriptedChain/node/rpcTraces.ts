import type { Hex } from 'viem';
import { toQuantity } from './rpcShapes.ts';
import { type MinedTransaction, type ScriptedBlock, toLowerCaseHex } from '../scriptedBlock.ts';
import type { ScriptedInternalCall } from '../scriptedTransaction.ts';

/** One call in the form of geth's `callTracer`. */
export interface RpcCallTrace {
  type: string;
  from: Hex;
  to: Hex | null;
  value?: Hex;
  gas: Hex;
  gasUsed: Hex;
  input: Hex;
  output: Hex;
  error?: string;
  calls?: RpcCallTrace[];
}

/** Returns one trace per transaction, like `debug_traceBlockByHash` with `callTracer`. */
export function toRpcTraces(block: ScriptedBlock): { txHash: Hex; result: RpcCallTrace }[] {
  return block.transactions.map((transaction) => ({
    txHash: transaction.hash,
    result: toTrace(transaction),
  }));
}

function toTrace(transaction: MinedTransaction): RpcCallTrace {
  const { calls } = transaction;
  return {
    type: transaction.to ? 'CALL' : 'CREATE',
    from: transaction.from,
    to: transaction.to ?? transaction.contractAddress,
    value: toQuantity(transaction.value),
    gas: toQuantity(transaction.gasUsed * 2n),
    gasUsed: toQuantity(transaction.gasUsed),
    input: transaction.input,
    output: '0x',
    ...(transaction.status === 'reverted' ? { error: 'execution reverted' } : {}),
    ...(calls.length > 0 ? { calls: calls.map(toInnerTrace) } : {}),
  };
}

function toInnerTrace(call: ScriptedInternalCall): RpcCallTrace {
  const { type = 'CALL', value = 0n, calls = [] } = call;
  return {
    type,
    from: toLowerCaseHex(call.from),
    to: toLowerCaseHex(call.to),
    // geth omits the value of calls that cannot have one.
    ...(type === 'STATICCALL' ? {} : { value: toQuantity(value) }),
    gas: '0x5208',
    gasUsed: '0x5208',
    input: call.input ?? '0x',
    output: '0x',
    ...(calls.length > 0 ? { calls: calls.map(toInnerTrace) } : {}),
  };
}
