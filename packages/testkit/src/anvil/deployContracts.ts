import { setTimeout as delay } from 'node:timers/promises';
import type { Address, Hex } from 'viem';
import type { Anvil } from './anvil.ts';
import { sluiceCollectible, sluiceItems, sluiceToken } from './contracts.generated.ts';
import { devAccounts } from './devAccounts.ts';

/** Addresses of the three contracts of the local chain, in lowercase. */
export interface DeployedContracts {
  /** `SluiceToken`: Sluice Dollar, SLD, 6 decimals. */
  erc20: Address;
  /** `SluiceCollectible`: ids start at 1. */
  erc721: Address;
  /** `SluiceItems`: ids 1 to 4. */
  erc1155: Address;
}

/** The first dev account, which owns the contracts and the first billion tokens. */
export const contractsOwner = devAccounts[0] as (typeof devAccounts)[number];

/**
 * The last dev account. It is used only to deploy, so that its nonces, and therefore the addresses
 * of the contracts, are the same on every chain.
 */
const deployer = devAccounts[9] as (typeof devAccounts)[number];

/**
 * Deploys the three contracts, unless an earlier call on this chain has deployed them. Their
 * addresses are the same on every local chain.
 *
 * @throws Error if the last dev account has sent other transactions on this chain, because the
 *   addresses would then differ between chains; also errors of the node.
 */
export async function deployContracts(anvil: Pick<Anvil, 'request'>): Promise<DeployedContracts> {
  const { concatHex, encodeAbiParameters } = await import('viem');
  const contracts = await localContracts();

  const ownerArgument = encodeAbiParameters([{ type: 'address' }], [contractsOwner.address]);
  const nonce = Number(
    await anvil.request<Hex>('eth_getTransactionCount', [deployer.address, 'pending']),
  );
  const sent: { name: string; hash: Hex }[] = [];
  for (const [index, [name, contract]] of Object.entries({
    sluiceToken,
    sluiceCollectible,
    sluiceItems,
  }).entries()) {
    const address = Object.values(contracts)[index] as Address;
    if (index < nonce) {
      if ((await anvil.request<Hex>('eth_getCode', [address, 'pending'])) !== '0x') continue;
      throw new Error(
        `${deployer.address} has sent other transactions, so ${name} cannot be deployed at ${address}`,
      );
    }
    const hash = await anvil.request<Hex>('eth_sendTransaction', [
      {
        from: deployer.address,
        nonce: `0x${index.toString(16)}`,
        gas: '0x4c4b40',
        data: concatHex([contract.bytecode, ownerArgument]),
      },
    ]);
    sent.push({ name, hash });
  }
  if (sent.length > 0) {
    await anvil.request('evm_mine'); // do not wait for the next block of a chain with a block time
    for (const { name, hash } of sent) await expectSuccess(anvil, name, hash);
  }
  return contracts;
}

/** Returns the addresses of the three contracts on every local chain, deployed or not. */
export async function localContracts(): Promise<DeployedContracts> {
  const { getContractAddress } = await import('viem');
  const addressOf = (nonce: bigint): Address =>
    getContractAddress({ from: deployer.address, nonce }).toLowerCase() as Address;
  return { erc20: addressOf(0n), erc721: addressOf(1n), erc1155: addressOf(2n) };
}

/** anvil may already be mining when we call `evm_mine`, so the block can be slightly delayed. */
const minedDeadlineMs = 10_000;
const askAgainMs = 20;

async function expectSuccess(
  anvil: Pick<Anvil, 'request'>,
  name: string,
  hash: Hex,
): Promise<void> {
  for (let waitedMs = 0; waitedMs < minedDeadlineMs; waitedMs += askAgainMs) {
    const receipt = await anvil.request<{ status: Hex } | null>('eth_getTransactionReceipt', [
      hash,
    ]);
    if (receipt?.status === '0x1') return;
    if (receipt) break;
    await delay(askAgainMs);
  }
  throw new Error(`${name} failed to deploy (transaction ${hash})`);
}
