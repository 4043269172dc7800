/** Builds the results of client methods: single responses and lists. */
import type { ListOptions } from '../contract/shapes.generated.ts';
import { PAGE_LIMIT } from '../contract/values.ts';
import { SluiceError } from '../errors.ts';
import { createList } from './pages.ts';
import type { AnyPage, ListResult } from './pages.ts';
import { createCallResult } from './request.ts';
import type { Call, CallOptions, CallResult, Connection } from './request.ts';

/**
 * Builders of method results. `build` runs when the call is sent, so an invalid argument rejects
 * the result instead of throwing.
 */
export interface Calls {
  one<Data>(
    build: () => Call,
    options: CallOptions | undefined,
    read?: (body: unknown, response: Response) => Data,
  ): CallResult<Data>;
  list<Row, P extends AnyPage<Row>>(
    build: () => Call,
    place: ListOptions,
    options: CallOptions | undefined,
    readPage: (body: unknown) => P,
  ): ListResult<Row, P>;
}

export function createCalls(connection: Connection): Calls {
  return {
    one<Data>(
      build: () => Call,
      options: CallOptions | undefined,
      read: (body: unknown, response: Response) => Data = (body) => body as Data,
    ) {
      const send = async () => {
        const received = await connection.send(build(), options);
        return { ...received, data: read(received.data, received.response) };
      };
      return createCallResult(send());
    },
    list<Row, P extends AnyPage<Row>>(
      build: () => Call,
      { limit, cursor }: ListOptions,
      options: CallOptions | undefined,
      readPage: (body: unknown) => P,
    ) {
      return createList<Row, P>(async (next) => {
        const call = build();
        const query = { limit: toLimit(limit), cursor: next ?? cursor, ...call.query };
        const received = await connection.send({ ...call, query }, options);
        return { ...received, data: readPage(received.data) };
      });
    },
  };
}

function toLimit(limit: number = PAGE_LIMIT): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= PAGE_LIMIT) return limit;
  throw new SluiceError(
    'invalid_argument',
    `limit should be a whole number from 1 to ${PAGE_LIMIT}`,
  );
}
