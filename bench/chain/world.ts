/** Starts anvil with a contract that emits events, and services that read its chain. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@sluice/kit';
import { createSluiceClient } from '@sluice/kit/sluice';
import { type Anvil, type AnvilOptions, crier, startAnvil, until } from '@sluice/testkit';
import { type Hex, encodeFunctionData, numberToHex, toEventSelector } from 'viem';
import { API_KEY, type ServeOptions, type Served, serve } from '../../test/serve.ts';

const CHAIN = '0x7a69';
/** Event outside the token standards, so that the service reads no token metadata. */
const EVENT = 'Ping(uint256)';

const GAS = '0x1c9c380';
const SENDER = 0;

export interface World {
  readonly anvil: Anvil;
  /** Address of the contract that emits the events. */
  readonly contract: `0x${string}`;
  /**
   * Emits this number of events in one transaction, by default without further topics. Resolves when
   * the node has accepted the transaction.
   */
  emit(events: number, topics?: readonly Hex[]): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts a chain with the contract. Without `blockTimeSeconds`, each transaction gets its own
 * block.
 */
export async function startWorld(options: AnvilOptions = {}): Promise<World> {
  const anvil = await startAnvil({ keepBlocks: 100_000, ...options });
  const from = anvil.accounts[SENDER]!.address;
  const created = await anvil.request<string>('eth_sendTransaction', [
    { from, gas: GAS, data: crier.bytecode },
  ]);
  const receipt = await until('the contract is deployed', async () => {
    const params = [created];
    return (await anvil.request<Receipt | null>('eth_getTransactionReceipt', params)) ?? undefined;
  });
  const contract = receipt.contractAddress;
  return {
    anvil,
    contract,
    async emit(events, topics = [toEventSelector(EVENT)]) {
      const all = Array.from({ length: events }, () => topics);
      const values = all.map((_, n) => numberToHex(n, { size: 32 }));
      const args = [all, values] as const;
      const data = encodeFunctionData({ abi: crier.abi, functionName: 'cryAll', args });
      await anvil.request('eth_sendTransaction', [{ from, to: contract, gas: GAS, data }]);
    },
    stop: () => anvil.stop(),
  };
}

interface Receipt {
  contractAddress: `0x${string}`;
}

export interface Sluice extends Served {
  /** Creates a stream of the contract's events and returns the stream's id. */
  watch(contract: string, webhookUrl: string): Promise<string>;
  backfill(streamId: string, range: { from: number; to: number }): Promise<void>;
}

/**
 * Starts a service with its own SQLite ledger and runs `work` as soon as the service listens.
 *
 * @param node URL of the chain's node with options, as in `--chain 0x7a69=…`
 */
export async function withService<T>(
  node: string,
  work: (served: Served) => Promise<T>,
  options: ServeOptions = {},
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-chain-'));
  const served = await serve(['--data', folder, '--chain', `${CHAIN}=${node}`], options);
  try {
    return await work(served);
  } finally {
    await served.stop();
    rmSync(folder, { recursive: true });
  }
}

/**
 * Starts a service like `withService`, and runs `work` with `watch` and `backfill` once the chain
 * is live.
 */
export const withSluice = <T>(node: string, work: (sluice: Sluice) => Promise<T>): Promise<T> =>
  withService(node, async (served) => {
    const client = createClient({ apiKey: API_KEY, baseUrl: served.url });
    const sluice = createSluiceClient({ apiKey: API_KEY, baseUrl: served.url });
    await until('the chain is live', async () => (await sluice.listChains())[0]?.state === 'live');
    return work({
      ...served,
      async watch(contract, webhookUrl) {
        const { id } = await client.streams.create({
          webhookUrl,
          description: 'bench',
          tag: 'bench',
          chainIds: [CHAIN],
          includeContractLogs: true,
          topic0: [EVENT],
        });
        await client.streams.addAddress(id, contract);
        return id;
      },
      async backfill(streamId, { from, to }) {
        const range = { blockFrom: from, blockTo: to };
        await client.streams.createHistoricalJob({ streamId, chainId: CHAIN, ...range });
      },
    });
  });
