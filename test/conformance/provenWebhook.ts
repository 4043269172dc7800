/** Reads a block of a scripted chain as the service does, and returns the webhook with its proofs. */
import type { EvmWebhook } from '@sluice/kit';
import { type ScriptedTransaction, createScriptedChain, startScriptedChain } from '@sluice/testkit';
import { createLog } from '../../packages/service/src/base/log.ts';
import { createEvmSource } from '../../packages/service/src/families/evm/ingest/evm.ts';
import type { EvmBlock } from '../../packages/service/src/families/evm/match/block.ts';
import {
  createStreamIndex,
  matchBlock,
  needsOf,
} from '../../packages/service/src/families/evm/match/match.ts';
import { toWebhookParts } from '../../packages/service/src/families/evm/match/webhook.ts';
import {
  DEFAULT_DELIVERY,
  DEFAULT_OPTIONS,
  type EvmStreamRecord,
} from '../../packages/service/src/store/streams/contract.ts';

export type ProvenWebhook = EvmWebhook & { proofs: NonNullable<EvmWebhook['proofs']> };

/** The webhook contains every log whose first topic is 32 times `fa`, as a receiver parses it. */
export async function readProvenWebhook(
  transactions: readonly ScriptedTransaction[],
): Promise<{ block: EvmBlock; webhook: ProvenWebhook }> {
  const chain = createScriptedChain({ chainId: 1 });
  chain.mine({ transactions });
  const node = await startScriptedChain({ chain });
  const source = createEvmSource({
    chain: '0x1',
    urls: [node.url],
    pollMs: 1_000,
    log: createLog(() => {}),
  });
  const index = createStreamIndex();
  const options = { ...DEFAULT_OPTIONS, allAddresses: true, includeContractLogs: true };
  index.put({
    id: 's',
    family: 'evm',
    chainIds: ['0x1'],
    tag: '',
    ...DEFAULT_DELIVERY,
    options: { ...options, topic0: [`0x${'fa'.repeat(32)}`], includeProofs: true },
  } as unknown as EvmStreamRecord);
  const block = await source.readBlock(await source.readHead(), needsOf(index, '0x1'));
  const [match] = matchBlock(index, '0x1', block);
  const { head, tail } = toWebhookParts('0x1', block, match!);
  const body = JSON.stringify({ confirmed: true, ...head, retries: 0, ...tail });
  await source.stop();
  await node.stop();
  return { block, webhook: JSON.parse(body) as ProvenWebhook };
}
