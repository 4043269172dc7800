import type { Hex } from 'viem';
import {
  aptCoinType,
  aptMetadata,
  sha3OfText,
  toLongAddress,
  toShortAddress,
} from '../aptosAddress.ts';
import {
  type AptosTraces,
  type EffectContext,
  applyEffect,
  moveFungible,
  readAccount,
  takeCoin,
  toModuleEvent,
  toTableWrite,
  writeAccount,
} from './aptosEffects.ts';
import { type ResourceWrites, byType, toModuleName } from '../aptosState.ts';
import { type FungibleSupply, resourceTypes } from '../aptosResources.ts';
import { type AptosWorkspace, isOfObjectGroup } from '../aptosWorkspace.ts';
import type { RestChange, RestEvent, RestModule } from '../../rest/restShapes.ts';
import type { ScriptedAptosTransaction } from './scriptedAptosTransaction.ts';

export interface AptosExecution {
  writes: ResourceWrites;
  events: readonly RestEvent[];
  changes: readonly RestChange[];
  /** The sender's sequence number before the transaction. */
  sequenceNumber: bigint;
}

/** The table item with the supply of APT as a coin. Gas payments in coins write this item. */
const aptSupplyTable: { handle: Hex; key: Hex } = {
  handle: sha3OfText('supply of APT: handle'),
  key: sha3OfText('supply of APT: key'),
};

/**
 * Executes a user transaction in the workspace: applies its effects, unless it failed, and pays its
 * gas.
 */
export function executeAptosTransaction(
  script: ScriptedAptosTransaction & { sender: Hex },
  options: Omit<EffectContext, 'traces'>,
): AptosExecution {
  const { workspace } = options;
  const traces: AptosTraces = { events: [], tableChanges: [] };
  const context: EffectContext = { ...options, traces };

  if (script.failure === undefined) {
    for (const effect of script.effects ?? []) applyEffect(effect, context);
  }
  payGas(script, context);

  const account = readAccount(workspace, script.sender);
  const sequenceNumber = BigInt(account.sequence_number);
  if (script.replayProtectionNonce === undefined) {
    const next = { ...account, sequence_number: String(sequenceNumber + 1n) };
    writeAccount(workspace, script.sender, next);
  }
  if (script.hasFeeStatement !== false) traces.events.push(toFeeStatement(gasUsedBy(script)));

  const writes = workspace.endTransaction();
  const resourceChanges = toResourceChanges(writes);
  const changes =
    script.showsStoreOwners === false
      ? resourceChanges.filter((change) => !isStoreOwner(change, workspace))
      : resourceChanges;
  return {
    writes,
    events: traces.events,
    changes: [...changes, ...traces.tableChanges],
    sequenceNumber,
  };
}

export function gasUsedBy({ gasUsed = 12n }: ScriptedAptosTransaction): bigint {
  return gasUsed;
}

/** Returns the price of a gas unit, in octas. */
export function gasUnitPriceOf({ gasUnitPrice = 100n }: ScriptedAptosTransaction): bigint {
  return gasUnitPrice;
}

/** Converts writes to changes of the REST API, sorted by address and type. */
export function toResourceChanges(writes: ResourceWrites): RestChange[] {
  return [...writes].sort(byType).flatMap(([address, resources]) =>
    [...resources].sort(byType).map(([type, data]): RestChange => {
      const moduleName = toModuleName(type);
      const group = isOfObjectGroup(type) ? 'object' : type;
      const where = {
        address: toShortAddress(address),
        state_key_hash: sha3OfText(`${address}:${group}`),
      };
      if (moduleName !== undefined) {
        return { ...where, data: data as unknown as RestModule, type: 'write_module' };
      }
      return data === undefined
        ? { ...where, resource: type, type: 'delete_resource' }
        : { ...where, data: { type, data }, type: 'write_resource' };
    }),
  );
}

function payGas(script: ScriptedAptosTransaction & { sender: Hex }, context: EffectContext) {
  const amount = gasUsedBy(script) * gasUnitPriceOf(script);
  const payer = script.feePayer ?? script.sender;
  if (script.gasFrom === 'coin') {
    takeCoin({ account: payer, coinType: aptCoinType }, amount, context);
    const { handle, key } = aptSupplyTable;
    context.traces.tableChanges.push(toTableWrite(handle, key, `0x${'00'.repeat(16)}`));
    return;
  }
  const store = { owner: payer, metadata: aptMetadata };
  moveFungible({ kind: 'fungibleWithdraw', store, amount }, context);
  const supply = context.workspace.read(aptMetadata, resourceTypes.supply) as FungibleSupply;
  const value = String(BigInt(supply.current.value) - amount);
  context.workspace.write(aptMetadata, resourceTypes.supply, {
    current: { ...supply.current, value },
  });
}

function toFeeStatement(gasUsed: bigint): RestEvent {
  const executionUnits = gasUsed / 2n;
  return toModuleEvent('0x1::transaction_fee::FeeStatement', {
    execution_gas_units: String(executionUnits),
    io_gas_units: String(gasUsed - executionUnits),
    storage_fee_octas: '0',
    storage_fee_refund_octas: '0',
    total_charge_gas_units: String(gasUsed),
  });
}

function isStoreOwner(change: RestChange, workspace: AptosWorkspace): boolean {
  return (
    change.type === 'write_resource' &&
    change.data.type === resourceTypes.object &&
    workspace.read(toLongAddress(change.address), resourceTypes.fungibleStore) !== undefined
  );
}
