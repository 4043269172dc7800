/** The result of a list call: await it for one page, or iterate over it for every row. */
import type { Page } from '../contract/generic.ts';
import { SluiceError } from '../errors.ts';
import { createCallResult } from './request.ts';
import type { CallResult, WithResponse } from './request.ts';

/** The fields of every page; a service may add more. */
export interface AnyPage<Row> {
  result: Row[];
  cursor?: string;
}

/** A page of a list result. */
export type ListedPage<P> = P & {
  /** Index of the page in this list, starting at 0. */
  page: number;
};

/**
 * ```ts
 * const page = await client.streams.list();                  // one request, one page
 * for await (const stream of client.streams.list()) { … }    // every row, page after page
 * for await (const page of client.streams.list().pages()) { … }
 * const { data, requestId } = await client.streams.list().withResponse();  // with its response
 * ```
 * Requests are sent only when the result is awaited or iterated. Each iteration starts at the first
 * page; leaving the loop stops further requests.
 */
export interface ListResult<Row, P extends AnyPage<Row> = Page<Row>>
  extends CallResult<ListedPage<P>>, AsyncIterable<Row> {
  /** Iterates over all pages, with one request each. */
  pages(): AsyncIterableIterator<ListedPage<P>>;
}

/**
 * Creates a list result. A missing cursor marks the last page; `page_size` is ignored, because the
 * hosted service does not send it.
 *
 * @param readPage fetches the page at a cursor; without a cursor, the first page.
 */
export function createList<Row, P extends AnyPage<Row> & { total?: number; searchedTo?: number }>(
  readPage: (cursor: string | undefined) => Promise<WithResponse<P>>,
): ListResult<Row, P> {
  const readListed = async (
    cursor: string | undefined,
    page: number,
  ): Promise<WithResponse<ListedPage<P>>> => {
    const received = await readPage(cursor);
    return { ...received, data: { ...received.data, page } };
  };
  let first: CallResult<ListedPage<P>> | undefined;
  const readFirst = (): CallResult<ListedPage<P>> =>
    (first ??= createCallResult(readListed(undefined, 0)));

  async function* pages(): AsyncGenerator<ListedPage<P>, undefined> {
    let cursor: string | undefined;
    let seen = 0;
    for (let index = 0; ; index++) {
      const { data: page } = await readListed(cursor, index);
      yield page;
      seen += page.result.length;
      const next = page.cursor;
      // The last page has no cursor. An empty page after all rows also ends the list, because some
      // services always send a cursor. A search that continues may have an empty page.
      const isEnd = page.result.length === 0 && page.searchedTo === undefined;
      if (!next || (isEnd && seen >= (page.total ?? 0))) return;
      if (next === cursor) {
        throw new SluiceError('invalid_response', 'The service sent the same cursor twice');
      }
      cursor = next;
    }
  }

  async function* rows(): AsyncGenerator<Row, undefined> {
    for await (const page of pages()) yield* page.result;
  }

  return {
    // oxlint-disable-next-line unicorn/no-thenable -- a list is awaitable on purpose
    then: (onFulfilled, onRejected) => readFirst().then(onFulfilled, onRejected),
    catch: (onRejected) => readFirst().catch(onRejected),
    finally: (onFinally) => readFirst().finally(onFinally),
    withResponse: () => readFirst().withResponse(),
    pages,
    [Symbol.asyncIterator]: rows,
    [Symbol.toStringTag]: 'ListResult',
  };
}
