import type { ChainFamily } from '@sluice/kit/contract';
import type { ListPosition, StreamReads, StreamRecord } from './contract.ts';

const STREAMS_PER_PAGE = 100;

/**
 * Yields all streams, or those of one family, newest first. Reads them in pages, so that only one
 * page is in memory at a time.
 */
export async function* eachStream(
  store: Pick<StreamReads, 'listStreams'>,
  family?: ChainFamily,
): AsyncGenerator<StreamRecord> {
  let after: ListPosition | undefined;
  do {
    const page = await store.listStreams({ limit: STREAMS_PER_PAGE, after, family });
    yield* page.rows;
    after = page.next;
  } while (after !== undefined);
}
