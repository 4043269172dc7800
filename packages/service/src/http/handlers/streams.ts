/** The EVM stream calls of the compatible API (contract section 1.2, calls 8 to 16). */
import type { Context } from 'hono';
import {
  type AddressesAnswer,
  type CreateEvmStream,
  type EvmStream,
  type Page,
  type StreamAddress,
  type UpdateEvmStream,
  createEvmStreamSchema,
  evmAddressesSchema,
  listQuerySchema,
  listStreamsQuerySchema,
  streamStatusSchema,
  toAddress,
  updateEvmStreamSchema,
} from '@sluice/kit/contract';
import {
  DEFAULT_DELIVERY,
  DEFAULT_OPTIONS,
  type Store,
  type StreamDraft,
  type StreamOptions,
  type StreamRecord,
} from '../../store/store.ts';
import { HttpError, check, notFound, readId, validationFailed } from '../answers.ts';
import { readJson } from '../body.ts';
import { fromCursor, lastPage, toCursor } from '../pages.ts';

export interface StreamHandlers {
  list(context: Context): Promise<Response>;
  create(context: Context): Promise<Response>;
  get(context: Context): Promise<Response>;
  update(context: Context): Promise<Response>;
  delete(context: Context): Promise<Response>;
  setStatus(context: Context): Promise<Response>;
  listAddresses(context: Context): Promise<Response>;
  addAddresses(context: Context): Promise<Response>;
  removeAddresses(context: Context): Promise<Response>;
}

export interface StreamHandlerNeeds {
  store: Store;
  /** Why this URL may not be a webhook's, or undefined. */
  refuseUrl(url: URL): string | undefined;
  /** Sends the test webhook; answers with why it failed, or undefined. */
  testWebhook(url: string): Promise<string | undefined>;
  /** What of a stream's filters cannot be, by place; empty when all is well. */
  checkFilters(options: StreamOptions): { path: (string | number)[]; message: string }[];
  /** Whether blocks of this chain are read. */
  hasSource(chain: string): boolean;
  /** Whether it is known that no node of this chain traces blocks. */
  lacksTraces(chain: string): boolean;
  onChange(streamId: string): void;
}

/** Accepted by the contract but not yet acted on: refused, so that nobody waits for them in vain. */
const NOT_YET = [
  'getNativeBalances',
  'triggers',
] as const satisfies readonly (keyof StreamOptions)[];

export function createStreamHandlers(needs: StreamHandlerNeeds): StreamHandlers {
  const { store } = needs;

  /** What keeps an active stream from finding all that it asks for; empty where nothing does. */
  const problemOf = ({ chainIds, options }: StreamRecord): string => {
    const missing = chainIds.filter((chain) => !needs.hasSource(chain));
    if (missing.length > 0) {
      return `No source for ${missing.join(', ')}: start the service with --chain ${missing[0]}=<rpcUrl>`;
    }
    const untraced = options.includeInternalTxs ? chainIds.filter(needs.lacksTraces) : [];
    return untraced.length === 0
      ? ''
      : `No internal transactions on ${untraced.join(', ')}: no node there offers debug_traceBlockByHash or trace_block`;
  };

  const answer = (record: StreamRecord): EvmStream => {
    const { options } = record;
    return {
      id: record.id,
      webhookUrl: record.webhookUrl,
      description: record.description,
      tag: record.tag,
      chainIds: record.chainIds,
      ...options,
      deliver: record.deliver,
      notifyRemoved: record.notifyRemoved,
      headers: record.headers,
      status: record.status,
      statusMessage: (record.status === 'active' && problemOf(record)) || record.statusMessage,
      isErrorSince: record.errorSince === null ? null : new Date(record.errorSince).toISOString(),
      createdAt: new Date(record.createdAt).toISOString(),
      updatedAt: new Date(record.updatedAt).toISOString(),
      amountOfAddresses: record.addressCount,
    };
  };

  const find = async (context: Context): Promise<StreamRecord> => {
    const record = await store.readStream(readId(context, 'stream'));
    if (record === undefined) throw notFound('Stream');
    return record;
  };

  const tryWebhook = async (url: string): Promise<void> => {
    const refused = needs.refuseUrl(new URL(url));
    if (refused !== undefined) {
      throw validationFailed('requestBody', [{ path: ['webhookUrl'], message: refused }], {
        webhookUrl: url,
      });
    }
    const failure = await needs.testWebhook(url);
    if (failure === undefined) return;
    throw new HttpError(400, `Could not POST to ${url}. Please check your webhook URL.`, {
      'requestBody.webhookUrl': {
        message: `should answer the test webhook with a 2xx; it failed: ${failure}`,
        value: url,
      },
    });
  };

  const readAddresses = (context: Context) => {
    const body = readJson(context);
    const result = evmAddressesSchema.safeParse(body);
    if (result.success) return { sent: body as { address: string | string[] }, ...result.data };
    const bad = firstBadAddress(body);
    if (bad === undefined) return check(evmAddressesSchema, 'requestBody', body) as never;
    throw new HttpError(400, 'Invalid address provided', {
      [bad.field]: { message: 'should be an EVM address: 0x and 40 hex digits', value: bad.value },
    });
  };

  const answerAddresses = (
    streamId: string,
    address: string | string[],
    effectiveFrom: Record<string, number>,
  ): AddressesAnswer => ({ streamId, address, effectiveFrom });

  return {
    async list(context) {
      const { limit, cursor, status } = check(listStreamsQuerySchema, 'query', context.req.query());
      const page = await store.listStreams({ limit, after: fromCursor(cursor), status });
      const result = page.rows.map(answer);
      return context.json({
        result,
        total: page.total,
        ...(page.next ? { cursor: toCursor(page.next) } : lastPage(page.total)),
      } satisfies Page<EvmStream>);
    },

    async create(context) {
      const body = readJson(context);
      const wanted = check(createEvmStreamSchema, 'requestBody', body);
      const options = toOptions(wanted, DEFAULT_OPTIONS);
      refuseContradictions(options, body, needs.checkFilters(options));
      await tryWebhook(wanted.webhookUrl);
      const record = await store.createStream({
        tag: wanted.tag ?? '',
        description: wanted.description,
        webhookUrl: wanted.webhookUrl,
        chainIds: wanted.chainIds,
        options,
        deliver: wanted.deliver ?? DEFAULT_DELIVERY.deliver,
        notifyRemoved: wanted.notifyRemoved ?? DEFAULT_DELIVERY.notifyRemoved,
        headers: wanted.headers ?? DEFAULT_DELIVERY.headers,
      });
      needs.onChange(record.id);
      return context.json(answer(record));
    },

    async get(context) {
      return context.json(answer(await find(context)));
    },

    async update(context) {
      const before = await find(context);
      const body = readJson(context);
      const wanted = check(updateEvmStreamSchema, 'requestBody', body);
      const options = toOptions(wanted, before.options);
      refuseContradictions(options, body, needs.checkFilters(options));
      if (wanted.webhookUrl !== undefined) await tryWebhook(wanted.webhookUrl);
      const patch: Partial<StreamDraft> = {
        options,
        ...(wanted.tag !== undefined && { tag: wanted.tag }),
        ...(wanted.description !== undefined && { description: wanted.description }),
        ...(wanted.webhookUrl !== undefined && { webhookUrl: wanted.webhookUrl }),
        ...(wanted.chainIds !== undefined && { chainIds: wanted.chainIds }),
        ...(wanted.deliver !== undefined && { deliver: wanted.deliver }),
        ...(wanted.notifyRemoved !== undefined && { notifyRemoved: wanted.notifyRemoved }),
        ...(wanted.headers !== undefined && { headers: wanted.headers }),
      };
      const record = await store.updateStream(before.id, patch);
      if (record === undefined) throw notFound('Stream');
      needs.onChange(record.id);
      return context.json(answer(record));
    },

    async delete(context) {
      const record = await store.deleteStream(readId(context, 'stream'));
      if (record === undefined) throw notFound('Stream');
      needs.onChange(record.id);
      return context.json(answer(record));
    },

    async setStatus(context) {
      const before = await find(context);
      const { status } = check(streamStatusSchema, 'requestBody', readJson(context));
      if (status === 'active' && before.status !== 'active') await tryWebhook(before.webhookUrl);
      const record = await store.setStreamStatus(
        before.id,
        status,
        status === 'active' ? 'Stream is active' : 'Stream was paused by the user',
      );
      if (record === undefined) throw notFound('Stream');
      needs.onChange(record.id);
      return context.json(answer(record));
    },

    async listAddresses(context) {
      const { id } = await find(context);
      const { limit, cursor } = check(listQuerySchema, 'query', context.req.query());
      const page = await store.listAddresses(id, { limit, after: fromCursor(cursor)?.id });
      return context.json({
        result: page.addresses.map((address) => ({ address })),
        total: page.total,
        ...(page.next === undefined
          ? lastPage(page.total)
          : { cursor: toCursor({ at: 0, id: page.next }) }),
      } satisfies Page<StreamAddress>);
    },

    async addAddresses(context) {
      const id = readId(context, 'stream');
      const { sent, address } = readAddresses(context);
      const effectiveFrom = await store.addAddresses(id, [address].flat());
      if (effectiveFrom === undefined) throw notFound('Stream');
      needs.onChange(id);
      return context.json(answerAddresses(id, sent.address, effectiveFrom));
    },

    async removeAddresses(context) {
      const id = readId(context, 'stream');
      const { sent, address } = readAddresses(context);
      const outcome = await store.removeAddresses(id, [address].flat());
      if (outcome === undefined) throw notFound('Stream');
      if (typeof outcome['missing'] === 'string') throw notFound('Address');
      needs.onChange(id);
      return context.json(answerAddresses(id, sent.address, outcome as Record<string, number>));
    },
  };
}

function toOptions(wanted: CreateEvmStream | UpdateEvmStream, base: StreamOptions): StreamOptions {
  const options: Record<string, unknown> = { ...base };
  for (const key of Object.keys(base) as (keyof StreamOptions)[]) {
    if (wanted[key] !== undefined) options[key] = wanted[key];
  }
  return options as unknown as StreamOptions;
}

function refuseContradictions(
  options: StreamOptions,
  body: unknown,
  filterProblems: readonly { path: (string | number)[]; message: string }[],
): void {
  const problems = [...filterProblems];
  for (const key of NOT_YET) {
    const value = options[key];
    const asked = Array.isArray(value) ? value.length > 0 : value === true;
    if (asked)
      problems.push({ path: [key], message: 'is not supported by this version yet: leave it out' });
  }
  if (
    options.allAddresses &&
    (options.topic0 ?? []).length + (options.advancedOptions ?? []).length === 0
  ) {
    problems.push({
      path: ['allAddresses'],
      message: 'should come with topic0: name the events to take from every address',
    });
  }
  if (options.includeAllTxLogs && !options.includeNativeTxs && !options.includeContractLogs) {
    problems.push({
      path: ['includeAllTxLogs'],
      message: 'should come with includeNativeTxs or includeContractLogs',
    });
  }
  if (problems.length > 0) throw validationFailed('requestBody', problems, body);
}

function firstBadAddress(body: unknown): { field: string; value: unknown } | undefined {
  const address = (body as { address?: unknown } | null)?.address;
  if (typeof address === 'string') {
    return toAddress(address) === undefined
      ? { field: 'requestBody.address', value: address.slice(0, 200) }
      : undefined;
  }
  if (!Array.isArray(address)) return undefined;
  const at = address.findIndex((each) => typeof each === 'string' && toAddress(each) === undefined);
  return at < 0
    ? undefined
    : { field: `requestBody.address.${at}`, value: String(address[at]).slice(0, 200) };
}
