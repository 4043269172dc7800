/** Summarizes one transaction of an EVM block for its explanation. */
import {
  type ExplainedTransaction,
  itemSignature,
  findEvmChain,
  functionSelector,
  parseFunctionSignature,
  selectorOf,
} from '@sluice/kit/contract';
import { listAddresses } from '../../../match/explain.ts';
import type { EvmBlock, EvmLog, EvmTransaction } from './block.ts';
import type { CompiledStream, EvmStreams } from './match.ts';
import { topicsOf } from './transfers.ts';

/** Returns the transaction as Explain shows it; undefined if the block does not contain it. */
export function explainTransaction(
  index: EvmStreams,
  chain: string,
  block: EvmBlock,
  hash: string,
): ExplainedTransaction | undefined {
  const transaction = block.transactions.find((each) => each.hash === hash);
  if (transaction === undefined) return undefined;
  const { from, to, value, receipt } = transaction;
  const status = receipt.status === null ? null : BigInt(receipt.status);
  const selector = selectorOf(transaction.input) ?? null;
  return {
    hash,
    status: status === null ? null : status === 1n ? 'succeeded' : 'failed',
    from,
    to,
    createdContract: receipt.contractAddress,
    value: value === null ? null : BigInt(value).toString(),
    currency: { symbol: findEvmChain(chain)?.currency ?? '', decimals: 18 },
    selector,
    function: selector === null || to === null ? null : findFunction(index, chain, to, selector),
    ...listAddresses(addressesOf(chain, transaction, block)),
  };
}

/** Matches the padding of a topic that the matcher reads as an address. */
const ADDRESS_TOPIC = /^0x0{24}(?=[0-9a-f]{40}$)/;

function* addressesOf(
  chain: string,
  { hash, from, to, receipt }: EvmTransaction,
  block: EvmBlock,
): Generator<[string, string | null]> {
  yield ['from', from];
  yield ['to', to];
  yield ['created contract', receipt.contractAddress];
  const logs = block.logs.filter((log) => log.transactionHash === hash);
  for (const log of logs) yield [`emitter of log ${log.logIndex}`, log.address];
  for (const log of logs) yield* topicAddresses(log, topicsOf(chain, log));
  for (const call of block.internalTransactions) {
    if (call.transactionHash !== hash) continue;
    yield [`from of internal transaction ${call.index}`, call.from];
    yield [`to of internal transaction ${call.index}`, call.to];
  }
}

function* topicAddresses(
  { logIndex }: EvmLog,
  topics: readonly string[],
): Generator<[string, string]> {
  for (const [n, topic] of topics.entries()) {
    if (n > 0 && ADDRESS_TOPIC.test(topic)) {
      yield [`topic ${n} of log ${logIndex}`, topic.replace(ADDRESS_TOPIC, '0x')];
    }
  }
}

/** Maximum number of streams whose ABIs are searched for a function. */
const SEARCHED = 20;

/**
 * Returns the signature of the function with this selector, from a stream that watches the
 * contract, or from {@link COMMON_FUNCTIONS}; null if it is in neither.
 */
function findFunction(
  index: EvmStreams,
  chain: string,
  contract: string,
  selector: string,
): string | null {
  const streams: CompiledStream[] = [];
  index.watching(chain, contract, 2, (stream) => {
    if (streams.length < SEARCHED) streams.push(stream);
  });
  for (const { record, selection } of streams) {
    const selected = selection.calls?.decode(selector);
    if (selected !== undefined) return itemSignature(selected.called.item);
    const item = (record.options.abi ?? []).find(
      (each) => each.type === 'function' && functionSelector(each) === selector,
    );
    if (item !== undefined) return itemSignature(item);
  }
  return (
    COMMON_FUNCTIONS.find(
      (signature) => parseFunctionSignature(signature)?.selector === selector,
    ) ?? null
  );
}

/** Common functions of tokens, vaults, wrapped native tokens, routers and wallets. */
const COMMON_FUNCTIONS = [
  'transfer(address,uint256)',
  'transferFrom(address,address,uint256)',
  'approve(address,uint256)',
  'safeTransferFrom(address,address,uint256)',
  'safeTransferFrom(address,address,uint256,bytes)',
  'safeTransferFrom(address,address,uint256,uint256,bytes)',
  'safeBatchTransferFrom(address,address,uint256[],uint256[],bytes)',
  'setApprovalForAll(address,bool)',
  'permit(address,address,uint256,uint256,uint8,bytes32,bytes32)',
  'mint(address,uint256)',
  'burn(uint256)',
  'deposit()',
  'deposit(uint256,address)',
  'withdraw(uint256)',
  'withdraw(uint256,address,address)',
  'claim()',
  'stake(uint256)',
  'multicall(bytes[])',
  'multicall(uint256,bytes[])',
  'execute(bytes,bytes[])',
  'execute(bytes,bytes[],uint256)',
  'execTransaction(address,uint256,bytes,uint8,uint256,uint256,uint256,address,address,bytes)',
  'handleOps((address,uint256,bytes,bytes,uint256,uint256,uint256,uint256,uint256,bytes,bytes)[],address)',
  'swapExactTokensForTokens(uint256,uint256,address[],address,uint256)',
  'swapExactETHForTokens(uint256,address[],address,uint256)',
  'swapExactTokensForETH(uint256,uint256,address[],address,uint256)',
] as const;
