/** The address calls that all chain families share. */
import type { Context } from 'hono';
import { type StreamAddress, nameOfChain } from '@sluice/kit/contract';
import type { AddressChanges } from '../../../store/addresses/addressChanges.ts';
import type { AddressOutcome } from '../../../store/addresses/contract.ts';
import type { EffectiveFrom } from '../../../store/rules/ruleRevision.ts';
import type { Store } from '../../../store/store.ts';
import { RetryLaterError, notFound } from '../../httpErrors.ts';
import type { ApiFamily } from '../../family.ts';
import type { Handlers, Received } from '../../handlers.ts';
import { fromCursor, pageEnd, toCursor } from '../../pages.ts';
import { callerOf } from '../../auth/auth.ts';
import { readAddressBody, readRemovedAddresses } from './addressBody.ts';
import { findStream } from './findStream.ts';
import type { AddressBody } from './plainAddressBody.ts';

export interface AddressHandlerNeeds {
  store: Store;
  addressChanges: AddressChanges;
}

/** Size of the chunks in which long responses are sent. */
const CHUNK_BYTES = 1 << 16;
/** Retry-After while another client changes the addresses of the same stream. */
const RETRY_AFTER_SECONDS = 5;

/** A request for the stream in its path. */
type Asked = Pick<Received<'listAddresses'>, 'context'> & { readonly params: { id: string } };
type AskedList = Asked & { readonly query: { limit: number; cursor?: string | undefined } };

export function createAddressCalls(
  { store, addressChanges: changes }: AddressHandlerNeeds,
  { name, addresses: format }: ApiFamily,
) {
  const findId = async ({ params }: Asked): Promise<string> =>
    (await findStream(store, params.id, name)).id;

  const respond = (
    context: Context,
    streamId: string,
    { sent }: AddressBody,
    outcome: AddressOutcome,
  ): Response => {
    switch (outcome.outcome) {
      case 'changed':
        return repeat(
          context,
          streamId,
          sent,
          Object.fromEntries(
            Object.entries(outcome.effectiveFrom).map(([chain, from]) => [
              nameOfChain(chain),
              from,
            ]),
          ),
        );
      case 'unknown-stream':
        throw notFound('Stream');
      case 'missing':
        throw notFound('Address');
      case 'busy':
        throw new RetryLaterError(
          503,
          "Another change of this stream's addresses is in progress: try again when it has ended",
          RETRY_AFTER_SECONDS,
        );
    }
  };

  return {
    async list({ params, query: { limit, cursor } }: AskedList) {
      const { id, addressCount } = await findStream(store, params.id, name);
      const after = fromCursor(cursor);
      const page = await store.listAddresses(id, { limit, after: after?.id });
      return {
        result: page.addresses.map(toStreamAddress),
        ...pageEnd(
          after?.total ?? addressCount,
          page.next === undefined ? undefined : { at: 0, id: page.next },
        ),
      };
    },

    async add({ context, params: { id } }: Asked) {
      // Does not read the stream first, because the transaction that adds the addresses checks that
      // the stream exists.
      const body = await readAddressBody(context, { format, takesLabels: true });
      const { keyId } = callerOf(context);
      const outcome = await changes.add(id, { ...body, keyId });
      return respond(context, id, body, outcome);
    },

    async remove(asked: Asked) {
      const { context } = asked;
      const id = await findId(asked);
      const body = await readRemovedAddresses(context, format);
      return respond(context, id, body, await changes.remove(id, body.addresses));
    },

    async replace(asked: Asked) {
      const { context } = asked;
      const id = await findId(asked);
      const body = await readAddressBody(context, { format, takesLabels: true });
      const { keyId } = callerOf(context);
      const outcome = await changes.replace(id, { ...body, keyId });
      return respond(context, id, body, outcome);
    },
  };
}

export const createAddressHandlers = ({ store }: Pick<AddressHandlerNeeds, 'store'>) =>
  ({
    async listAddresses({ params: { id }, query: { find, limit, cursor } }) {
      if ((await store.readStream(id)) === undefined) throw notFound('Stream');
      const place = { limit, after: fromCursor(cursor)?.id };
      const { addresses, next } = await (find === undefined
        ? store.listAddresses(id, place)
        : store.findAddresses(id, { ...place, find }));
      return {
        result: addresses.map(({ addedAt, addedBy, ...row }) => ({
          ...toStreamAddress(row),
          addedAt,
          addedBy,
        })),
        ...(next !== undefined && { cursor: toCursor({ at: 0, id: next }) }),
      };
    },
  }) satisfies Partial<Handlers>;

const toStreamAddress = ({
  address,
  label,
}: {
  address: string;
  label: string | null;
}): StreamAddress => ({ address, ...(label !== null && { label }) });

/**
 * Responds with an `AddressesResponse` that repeats the addresses as they were sent, in chunks if
 * there are many.
 */
function repeat(
  context: Context,
  streamId: string,
  sent: Uint8Array,
  effectiveFrom: EffectiveFrom,
): Response {
  const head = Buffer.from(`{"streamId":${JSON.stringify(streamId)},"address":`);
  const tail = Buffer.from(`,"effectiveFrom":${JSON.stringify(effectiveFrom)}}`);
  context.header('content-type', 'application/json');
  if (sent.length <= CHUNK_BYTES) return context.body(Buffer.concat([head, sent, tail]).toString());
  context.header('content-length', String(head.length + sent.length + tail.length));
  let at = 0;
  return context.body(
    new ReadableStream<Uint8Array>({
      start: (stream) => stream.enqueue(head),
      pull(stream) {
        if (at < sent.length) {
          stream.enqueue(sent.subarray(at, at + CHUNK_BYTES));
          at += CHUNK_BYTES;
          return;
        }
        stream.enqueue(tail);
        stream.close();
      },
    }),
  );
}
