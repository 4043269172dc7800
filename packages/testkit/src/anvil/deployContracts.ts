import { setTimeout as delay } from 'node:timers/promises';
import type { Address, Hex } from 'viem';
import type { Anvil } from './anvil.ts';
import { sluiceCollectible, sluiceItems, sluiceToken } from './contracts.generated.ts';
import { devAccounts } from './devAccounts.ts';

/** Lowercase addresses of the three contracts of the local chain. */
export interface DeployedContracts {
  /** `SluiceToken`: Sluice Dollar (SLD), an ERC-20 token with 6 decimals. */
  erc20: Address;
  /** `SluiceCollectible`, whose token ids start at 1. */
  erc721: Address;
  /** `SluiceItems`, with token ids 1 to 4. */
  erc1155: Address;
}

/**
 * The first dev account. It owns the contracts and receives the initial supply: 1 billion SLD and 1
 * million of each item.
 */
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
 * @throws Error if the last dev account has sent another transaction first, which would change the
 *   addresses; if a deployment fails or is not mined within 10 s; or if the node returns an error.
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
    await anvil.request('evm_mine'); // mines at once, even if the chain has a block time
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

/**
 * Maximum wait for a receipt. When we call `evm_mine`, anvil may already be mining another block,
 * so the block with the deployment may come later.
 */
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
