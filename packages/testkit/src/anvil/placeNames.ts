import type { Address, Hex } from 'viem';
import type { Anvil } from './anvil.ts';
import { names } from './contracts.generated.ts';
import { devAccounts } from './devAccounts.ts';

/** Address of the ENS Universal Resolver, on every chain that has it. */
const UNIVERSAL_RESOLVER = '0xeeeeeeee14d718c2b47d9923deab1335e144eeee';

/**
 * Installs, at the address of the Universal Resolver, a contract that resolves these names. For
 * `elsewhere.eth`, the contract reverts with `OffchainLookup`: a server outside the chain would
 * have to resolve the name.
 *
 * @param known addresses by name
 */
export async function placeNames(
  anvil: Pick<Anvil, 'request'>,
  known: Readonly<Record<string, string>>,
): Promise<void> {
  const [{ encodeFunctionData, toHex }, { packetToBytes }] = await Promise.all([
    import('viem'),
    import('viem/ens'),
  ]);
  const from = devAccounts[8]?.address;
  const send = async (transaction: object): Promise<{ contractAddress: Hex }> => {
    const hash = await anvil.request<Hex>('eth_sendTransaction', [{ from, ...transaction }]);
    await anvil.request('evm_mine');
    return anvil.request('eth_getTransactionReceipt', [hash]);
  };
  const { contractAddress } = await send({ data: names.bytecode });
  const code = await anvil.request('eth_getCode', [contractAddress, 'latest']);
  await anvil.request('anvil_setCode', [UNIVERSAL_RESOLVER, code]);
  const call = (data: Hex) => send({ to: UNIVERSAL_RESOLVER, data });
  const packed = (name: string): Hex => toHex(packetToBytes(name));
  for (const [name, address] of Object.entries(known)) {
    const args = [packed(name), address as Address] as const;
    await call(encodeFunctionData({ abi: names.abi, functionName: 'set', args }));
  }
  const args = [packed('elsewhere.eth')] as const;
  await call(encodeFunctionData({ abi: names.abi, functionName: 'move', args }));
}
