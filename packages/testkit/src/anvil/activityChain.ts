import type { Account, Address, Hex } from 'viem';
import { sluiceCollectible, sluiceItems, sluiceToken } from './contracts.generated.ts';
import { type DeployedContracts, contractsOwner } from './deployContracts.ts';
import type { DevAccount } from './devAccounts.ts';

/**
 * Access to the chain of an activity. All reads use the pending block, so that each step includes
 * the effects of earlier steps in the same block.
 */
export interface ActivityChain {
  readTokenBalance(of: Address): Promise<bigint>;
  readItemBalance(of: Address, id: bigint): Promise<bigint>;
  /** Returns the id of the last minted token; 0 before the first mint. */
  readLastTokenId(): Promise<bigint>;
  /** Returns the lowercase owner; undefined if the token is not minted yet or was burned. */
  readHolder(tokenId: bigint): Promise<Address | undefined>;
  sendNative(from: DevAccount, to: Address, wei: bigint): Promise<void>;
  sendToken(from: DevAccount, to: Address, amount: bigint): Promise<void>;
  approveToken(from: DevAccount, spender: Address, amount: bigint): Promise<void>;
  mintCollectible(to: Address): Promise<void>;
  sendCollectible(from: DevAccount, to: Address, tokenId: bigint): Promise<void>;
  burnCollectible(tokenId: bigint): Promise<void>;
  sendItem(from: DevAccount, to: Address, id: bigint, amount: bigint): Promise<void>;
  sendItems(from: DevAccount, to: Address, ids: bigint[], amounts: bigint[]): Promise<void>;
}

/**
 * Gas limit and fees are fixed instead of estimated. The limit is far above the gas of any step,
 * and the fees are above the base fee of a chain with nearly empty blocks.
 */
const gas = 300_000n;
const maxFeePerGas = 20_000_000_000n;
const maxPriorityFeePerGas = 1_000_000_000n;

/** Connects to the chain. Loads viem on the first call instead of at startup. */
export async function connectActivityChain(
  url: string,
  contracts: DeployedContracts,
): Promise<ActivityChain> {
  const [{ createClient, encodeFunctionData, http, publicActions, walletActions }, accounts] =
    await Promise.all([import('viem'), import('viem/accounts')]);
  const client = createClient({ transport: http(url, { retryCount: 0, timeout: 10_000 }) })
    .extend(publicActions)
    .extend(walletActions);

  const signers = new Map<Address, Account>();
  const signerOf = ({ address, privateKey }: DevAccount) => {
    const known = signers.get(address);
    if (known) return known;
    const signer = accounts.privateKeyToAccount(privateKey);
    signers.set(address, signer);
    return signer;
  };

  // Sends without a nonce, so that viem reads it each time: the chain may have been reset or
  // reverted.
  const send = async (from: DevAccount, to: Address, data: Hex, value = 0n) => {
    const account = signerOf(from);
    const fees = { gas, maxFeePerGas, maxPriorityFeePerGas };
    await client.sendTransaction({ account, to, data, value, ...fees, chain: null });
  };

  const token = { address: contracts.erc20, abi: sluiceToken.abi } as const;
  const collectible = { address: contracts.erc721, abi: sluiceCollectible.abi } as const;
  const items = { address: contracts.erc1155, abi: sluiceItems.abi } as const;
  const blockTag = 'pending';

  return {
    readTokenBalance: (of) =>
      client.readContract({ ...token, functionName: 'balanceOf', args: [of], blockTag }),
    readItemBalance: (of, id) =>
      client.readContract({ ...items, functionName: 'balanceOf', args: [of, id], blockTag }),
    readLastTokenId: () =>
      client.readContract({ ...collectible, functionName: 'lastTokenId', blockTag }),
    readHolder: async (tokenId) => {
      try {
        const args = [tokenId] as const;
        const holder = await client.readContract({
          ...collectible,
          functionName: 'ownerOf',
          args,
          blockTag,
        });
        return holder.toLowerCase() as Address;
      } catch (error) {
        if (String(error).includes('ERC721NonexistentToken')) return undefined;
        throw error;
      }
    },
    sendNative: (from, to, wei) => send(from, to, '0x', wei),
    sendToken: (from, to, amount) =>
      send(
        from,
        token.address,
        encodeFunctionData({ ...token, functionName: 'transfer', args: [to, amount] }),
      ),
    approveToken: (from, spender, amount) =>
      send(
        from,
        token.address,
        encodeFunctionData({ ...token, functionName: 'approve', args: [spender, amount] }),
      ),
    mintCollectible: (to) =>
      send(
        contractsOwner,
        collectible.address,
        encodeFunctionData({ ...collectible, functionName: 'mint', args: [to] }),
      ),
    sendCollectible: (from, to, tokenId) =>
      send(
        from,
        collectible.address,
        encodeFunctionData({
          ...collectible,
          functionName: 'transferFrom',
          args: [from.address, to, tokenId],
        }),
      ),
    burnCollectible: (tokenId) =>
      send(
        contractsOwner,
        collectible.address,
        encodeFunctionData({ ...collectible, functionName: 'burn', args: [tokenId] }),
      ),
    sendItem: (from, to, id, amount) =>
      send(
        from,
        items.address,
        encodeFunctionData({
          ...items,
          functionName: 'safeTransferFrom',
          args: [from.address, to, id, amount, '0x'],
        }),
      ),
    sendItems: (from, to, ids, amounts) =>
      send(
        from,
        items.address,
        encodeFunctionData({
          ...items,
          functionName: 'safeBatchTransferFrom',
          args: [from.address, to, ids, amounts, '0x'],
        }),
      ),
  };
}
