/** Reads the values of a stream that is tried on a past block. */
import type { WebhookRead } from '@sluice/kit/contract';
import type { ChainValues } from '../../../../chains/values.ts';
import { createKnownReads } from '../../../../ingest/values/knownReads.ts';
import type { EvmStreamRecord } from '../../../../store/streams/contract.ts';
import type { StateReader } from '../../enrich/state.ts';
import { explainValue, isEvery, valueReason } from './explainValues.ts';
import { createReadState } from './readState.ts';
import type { StreamValues } from './streamValues.ts';

type TryReads = ChainValues<EvmStreamRecord, WebhookRead>['try'];

/** @param valuesOf returns the values of a stream that watches these addresses, or its own */
export const createTryReads =
  ({
    chain,
    state,
    valuesOf,
  }: {
    chain: string;
    state: Pick<StateReader, 'read' | 'isGone'>;
    valuesOf(addresses: readonly string[] | undefined): StreamValues;
  }): TryReads =>
  async (record, addresses, { parent, block }) => {
    const values = valuesOf(addresses);
    const readState = createReadState({ state, values });
    const known = createKnownReads();
    const read = async ({ number, hash, parentHash, timestamp }: typeof block) => {
      const pending = {
        chain,
        block: { number, hash, parentHash, timestamp },
        after: number - 1,
        pending: 1,
      };
      // Nothing is left to try after the last try.
      return (await readState({ streams: [record], pending, known }, true))!;
    };
    // The values of the parent are those before the block.
    if (parent !== undefined) known.add(parent, (await read(parent)).results);
    const { results, sent } = await read(block);
    const byKey = new Map(results.map((result) => [result.key, result]));
    const missing = (number: number): string => `no node has the state of block ${number}`;
    const explained = [];
    for (const [key, value] of (await values.list(record, block.number)).reads) {
      explained.push(
        explainValue(value, {
          chain,
          block,
          known: known.find(record.id, key),
          begun: byKey.get(key),
          decimals: await values.decimalsOf(block, value),
          noBefore: parent && `not compared: ${missing(parent.number)}`,
          unread: valueReason('unknown', `not read: ${missing(block.number)}`),
        }),
      );
    }
    // Without the value before, it is not known whether a value crossed its threshold.
    const certain = (sent.get(record.id) ?? []).filter(
      ({ before, when }) => before !== null || parent === undefined || isEvery(when),
    );
    return { sent: certain, values: explained };
  };
