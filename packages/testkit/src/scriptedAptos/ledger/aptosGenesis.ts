import type { Hex } from 'viem';
import { aptCoinType, aptMetadata, toLongAddress, toShortAddress } from './aptosAddress.ts';
import { newAccount, newObject, resourceTypes } from './aptosResources.ts';
import { toCanonicalType } from './aptosState.ts';
import type { AptosWorkspace } from './aptosWorkspace.ts';
import type { MoveValue } from '../rest/restShapes.ts';
import type { AptosFungibleAsset } from './transactions/scriptedAptosTransaction.ts';
import { fungibleAssetResources } from './transactions/scriptedAptos.ts';

const apt: AptosFungibleAsset = { name: 'Aptos Coin', symbol: 'APT', decimals: 8 };

/** Initial supply of APT in octas. The start balances of accounts do not increase it. */
const aptSupply = 10n ** 17n;

/**
 * Writes the resources of the first block: the chain id, APT as a coin and as a fungible asset, and
 * the requested coins and fungible assets.
 */
export function writeGenesis(
  workspace: AptosWorkspace,
  options: {
    chainId: number;
    coins: readonly (AptosFungibleAsset & { coinType: string })[];
    fungibleAssets: readonly (AptosFungibleAsset & { metadata: Hex })[];
  },
): void {
  const system = toLongAddress('0x1');
  workspace.write(system, resourceTypes.account, newAccount(system));
  workspace.write(system, '0x1::chain_id::ChainId', { id: options.chainId });
  for (const coin of [{ coinType: aptCoinType, ...apt }, ...options.coins]) {
    writeCoin(workspace, coin);
  }
  for (const { metadata, ...asset } of options.fungibleAssets) {
    writeFungibleAsset(workspace, toLongAddress(metadata), asset);
  }

  writeFungibleAsset(workspace, aptMetadata, apt);
  const inner = toShortAddress(aptMetadata);
  const ref: MoveValue = { vec: [{ metadata: { inner } }] };
  const pairing: Record<string, MoveValue> = {
    '0x1::coin::PairedCoinType': {
      type: {
        account_address: '0x1',
        module_name: '0x6170746f735f636f696e',
        struct_name: '0x4170746f73436f696e',
      },
    },
    '0x1::coin::PairedFungibleAssetRefs': {
      burn_ref_opt: ref,
      mint_ref_opt: ref,
      transfer_ref_opt: ref,
    },
    [resourceTypes.supply]: {
      current: { max_value: String(2n ** 128n - 1n), value: String(aptSupply) },
    },
  };
  for (const [type, data] of Object.entries(pairing)) workspace.write(aptMetadata, type, data);
}

function writeCoin(
  workspace: AptosWorkspace,
  { coinType, name, symbol, decimals }: AptosFungibleAsset & { coinType: string },
) {
  const type = toCanonicalType(coinType);
  const [address = ''] = type.split('::');
  workspace.write(toLongAddress(address), `0x1::coin::CoinInfo<${type}>`, {
    decimals,
    name,
    supply: {
      vec: [
        {
          aggregator: { vec: [] },
          integer: { vec: [{ limit: String(2n ** 128n - 1n), value: '0' }] },
        },
      ],
    },
    symbol,
  });
}

function writeFungibleAsset(workspace: AptosWorkspace, metadata: Hex, asset: AptosFungibleAsset) {
  workspace.write(metadata, resourceTypes.object, newObject(metadata, '0x1', true));
  const self = toShortAddress(metadata);
  const resources: Record<string, MoveValue> = {
    ...fungibleAssetResources(asset),
    '0x1::primary_fungible_store::DeriveRefPod': { metadata_derive_ref: { self } },
  };
  for (const [type, data] of Object.entries(resources)) workspace.write(metadata, type, data);
}
