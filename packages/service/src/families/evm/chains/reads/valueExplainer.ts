/** Explains the values that streams read in the state of a committed block, from the ledger. */
import type { ExplainedValue, ExplainReason } from '@sluice/kit/contract';
import type { ChainValues } from '../../../../chains/values.ts';
import { stopped } from '../../../../match/reasons.ts';
import type { BlockRef } from '../../../../store/blocks/contract.ts';
import type { Store } from '../../../../store/store.ts';
import type { EvmStreamRecord } from '../../../../store/streams/contract.ts';
import type { ReadValue } from './compileReads.ts';
import { explainValue, valueReason } from './explainValues.ts';
import type { StreamValues } from './streamValues.ts';

export function createValueExplainer({
  chain,
  store,
  values,
}: {
  chain: string;
  store: Pick<Store, 'readValuesAt' | 'readCoverage'>;
  values: StreamValues;
}): ChainValues<EvmStreamRecord, never>['explain'] {
  /** Returns why a value is not known in the state of the block. */
  const whyUnread = async (
    { id }: EvmStreamRecord,
    { number }: BlockRef,
    { isPending, keptFrom }: { isPending: boolean; keptFrom: number | undefined },
  ): Promise<ExplainReason> => {
    if (isPending) return valueReason('waiting', `not read yet: the state of block ${number}`);
    const coverage = (await store.readCoverage(id)).find(({ chainId }) => chainId === chain);
    const hole = coverage?.holes.find(({ from, to }) => from <= number && number <= to);
    if (hole?.reason === 'state') {
      return valueReason('unknown', `not read: no node has the state of block ${number}`);
    }
    if (keptFrom !== undefined && number < keptFrom) {
      return valueReason('unknown', `values before block ${keptFrom} are not kept`);
    }
    return stopped('value', `not read: the stream did not read it in block ${number}`);
  };

  return async (records, block, address) => {
    const explained = new Map<string, ExplainedValue[]>();
    for (const record of records) {
      const reads = [...(await values.list(record, block.number)).reads.values()].filter(
        (read) => address === undefined || concerns(read, address),
      );
      if (reads.length === 0) continue;
      const { known, begun, ...state } = await store.readValuesAt(chain, record.id, block.number);
      const unread = await whyUnread(record, block, state);
      const knownByKey = new Map(known.map((each) => [each.key, each]));
      const begunByKey = new Map(begun.map((each) => [each.key, each]));
      const noBefore =
        state.keptFrom !== undefined && block.number <= state.keptFrom
          ? 'the value before it is no longer kept'
          : undefined;
      const its: ExplainedValue[] = [];
      for (const read of reads) {
        its.push(
          explainValue(read, {
            chain,
            block,
            known: knownByKey.get(read.key),
            begun: begunByKey.get(read.key),
            // The rest is in the ledger, so it is explained even if no node can be queried.
            decimals: await values.decimalsOf(block, read).catch(() => null),
            noBefore,
            unread,
          }),
        );
      }
      explained.set(record.id, its);
    }
    return explained;
  };
}

/** Returns whether the value belongs to this address: its contract, its token or its account. */
const concerns = ({ about: { contract, balance, of } }: ReadValue, address: string): boolean =>
  contract === address || balance === address || of === address;
