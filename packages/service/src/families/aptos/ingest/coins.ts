/** Reads the metadata of coins and fungible assets on an Aptos chain. */
import { RetryableError } from '../../../base/errors.ts';
import type { AptosReader } from '../enrich/coinReader.ts';
import type { AptosSource } from './aptos.ts';
import { SourceError, type SourceErrorKind } from '../../../ingest/source.ts';

/**
 * Kinds of errors from nodes that responded without the metadata; another node or a later try may
 * return it. Any other error is reported as an outage.
 */
const REFUSALS: readonly SourceErrorKind[] = ['refused', 'missing', 'pruned', 'inconsistent'];

export const createAptosReader = (source: Pick<AptosSource, 'readResource'>): AptosReader => ({
  async readCoin(type, { number }) {
    const end = type.indexOf('::');
    try {
      const data =
        end < 0
          ? await source.readResource(type, '0x1::fungible_asset::Metadata', number)
          : await source.readResource(type.slice(0, end), `0x1::coin::CoinInfo<${type}>`, number);
      return { outcome: 'read', value: data as Readonly<Record<string, unknown>> | undefined };
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      if (REFUSALS.includes(error.kind)) return { outcome: 'refused', message: error.message };
      throw new RetryableError('unavailable', error.message, { cause: error });
    }
  },
});
