/** The address calls of both families. */
import type { Context } from 'hono';
import {
  type AddressPage,
  type ChainFamily,
  type Page,
  type StreamAddress,
  type WatchedAddress,
  listAddressesQuerySchema,
  findAptosNetwork,
  listQuerySchema,
} from '@sluice/kit/contract';
import type { AddressChanges } from '../../store/addressChanges.ts';
import type { AddressOutcome, EffectiveFrom, Store } from '../../store/store.ts';
import { type AddressBody, readAddressBody, readRemovedAddresses } from '../addressBody.ts';
import { HttpError, notFound, readId } from '../answers.ts';
import { takeQuery } from '../query.ts';
import { fromCursor, pageEnd, toCursor } from '../pages.ts';
import { callerOf } from '../auth.ts';
import { findStream } from './findStream.ts';

export interface AddressHandlers {
  list(context: Context): Promise<Response>;
  add(context: Context): Promise<Response>;
  remove(context: Context): Promise<Response>;
  replace(context: Context): Promise<Response>;
}

export interface AddressHandlerNeeds {
  store: Store;
  addressChanges: AddressChanges;
}

/** What of an answer is handed to the connection at once. */
const CHUNK_BYTES = 1 << 16;
/** For a client that meets another's change of the same stream. */
const RETRY_AFTER_SECONDS = 5;

export function createAddressHandlers(
  { store, addressChanges: changes }: AddressHandlerNeeds,
  family: ChainFamily,
): AddressHandlers {
  const findId = async (context: Context): Promise<string> =>
    (await findStream(store, context, family)).id;

  const answer = (
    context: Context,
    streamId: string,
    { sent }: AddressBody,
    outcome: AddressOutcome,
  ): Response => {
    switch (outcome.outcome) {
      case 'changed':
        return repeat(context, streamId, sent, outcome.effectiveFrom);
      case 'unknown-stream':
        throw notFound('Stream');
      case 'missing':
        throw notFound('Address');
      case 'busy':
        context.header('retry-after', String(RETRY_AFTER_SECONDS));
        throw new HttpError(
          503,
          'Another change of the addresses of this stream is under way: try again when it is through',
        );
    }
  };

  return {
    async list(context) {
      const { id, addressCount } = await findStream(store, context, family);
      const { limit, cursor } = takeQuery(context, listQuerySchema).query;
      const after = fromCursor(cursor);
      const page = await store.listAddresses(id, { limit, after: after?.id });
      return context.json({
        result: page.addresses.map(toStreamAddress),
        ...pageEnd(
          after?.total ?? addressCount,
          page.next === undefined ? undefined : { at: 0, id: page.next },
        ),
      } satisfies Page<StreamAddress>);
    },

    async add(context) {
      // The stream is not read for it: the transaction that adds finds out whether there is one.
      const id = readId(context, 'stream');
      const body = await readAddressBody(context, { family, takesLabels: true });
      const { keyId } = callerOf(context);
      const outcome = await changes.add(id, { ...body, keyId });
      return answer(context, id, body, outcome);
    },

    async remove(context) {
      const id = await findId(context);
      const body = await readRemovedAddresses(context, family);
      return answer(context, id, body, await changes.remove(id, body.addresses));
    },

    async replace(context) {
      const id = await findId(context);
      const body = await readAddressBody(context, { family, takesLabels: true });
      const { keyId } = callerOf(context);
      const outcome = await changes.replace(id, { ...body, keyId });
      return answer(context, id, body, outcome);
    },
  };
}

/** Ours, of either family. */
export function createWatchedAddressList({
  store,
}: {
  store: Store;
}): (context: Context) => Promise<Response> {
  return async (context) => {
    const id = readId(context, 'stream');
    const { find, limit, cursor } = takeQuery(context, listAddressesQuerySchema).query;
    if ((await store.readStream(id)) === undefined) throw notFound('Stream');
    const place = { limit, after: fromCursor(cursor)?.id };
    const { addresses, next } = await (find === undefined
      ? store.listAddresses(id, place)
      : store.findAddresses(id, { ...place, find }));
    return context.json({
      result: addresses.map(({ addedAt, addedBy, ...row }): WatchedAddress => ({
        ...toStreamAddress(row),
        addedAt,
        addedBy,
      })),
      ...(next !== undefined && { cursor: toCursor({ at: 0, id: next }) }),
    } satisfies AddressPage);
  };
}

const toStreamAddress = ({
  address,
  label,
}: {
  address: string;
  label: string | null;
}): StreamAddress => ({ address, ...(label !== null && { label }) });

/** `AddressesAnswer`, with the addresses as they came: a million of them go out as they can. */
function repeat(
  context: Context,
  streamId: string,
  sent: Uint8Array,
  effectiveFrom: EffectiveFrom,
): Response {
  const head = Buffer.from(`{"streamId":${JSON.stringify(streamId)},"address":`);
  const tail = Buffer.from(`,"effectiveFrom":${JSON.stringify(byName(effectiveFrom))}}`);
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

/** Chains as streams of their family name them. */
const byName = (effectiveFrom: EffectiveFrom): EffectiveFrom =>
  Object.fromEntries(
    Object.entries(effectiveFrom).map(([chain, from]) => [findAptosNetwork(chain) ?? chain, from]),
  );
