import { setTimeout as delay } from 'node:timers/promises';
import type { Address, Hex } from 'viem';
import type { Anvil } from './anvil.ts';
import { sluiceCollectible, sluiceItems, sluiceToken } from './contracts.generated.ts';
import { devAccounts } from './devAccounts.ts';

/** Where the three contracts of the local chain stand; lower case. */
export interface DeployedContracts {
  /** `SluiceToken`: Sluice Dollar, SLD, 6 decimals. */
  erc20: Address;
  /** `SluiceCollectible`: ids from 1 up. */
  erc721: Address;
  /** `SluiceItems`: ids 1 to 4. */
  erc1155: Address;
}

/** Owns the contracts, and with them the first billion tokens: the first dev account. */
export const contractsOwner = devAccounts[0] as (typeof devAccounts)[number];

/**
 * Deploys and does nothing else, so that its nonces, and with them the addresses of the contracts,
 * are the same on every chain: the last dev account.
 */
const deployer = devAccounts[9] as (typeof devAccounts)[number];

/**
 * Deploys the three contracts, or finds them where an earlier call on this chain put them. The
 * addresses are the same on every local chain.
 *
 * @throws Error when the last dev account has sent transactions of its own on this chain, since the
 *   addresses would then differ from one chain to the next; and what the node answers.
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
        `${deployer.address} has sent transactions of its own, so ${name} cannot be deployed at ${address}`,
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

/** Where the three contracts stand on every local chain, deployed or not. */
export async function localContracts(): Promise<DeployedContracts> {
  const { getContractAddress } = await import('viem');
  const addressOf = (nonce: bigint): Address =>
    getContractAddress({ from: deployer.address, nonce }).toLowerCase() as Address;
  return { erc20: addressOf(0n), erc721: addressOf(1n), erc1155: addressOf(2n) };
}

/** anvil may be mining on its own when we ask it to, so the block can be a moment away. */
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
  throw new Error(`${name} could not be deployed (${hash})`);
}
