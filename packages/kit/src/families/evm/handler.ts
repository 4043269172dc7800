/** Calls the registered functions for webhooks of EVM streams. */
import { WEBHOOK_HEADERS } from '../../contract/rules/signature.ts';
import type { EvmWebhook } from '../../contract/shapes.generated.ts';
import { SluiceError } from '../../errors.ts';
import { decodeKnown, hasItems } from '../../webhooks/decode.ts';
import type { DecodedLog, UndecodedLog } from '../../webhooks/decode.ts';
import { type DecodedCall, decodeKnownCalls } from '../../webhooks/decodeCalls.ts';
import { type DecodedRead, decodeKnownReads } from '../../webhooks/decodeReads.ts';
import { readHeader } from '../../webhooks/adapters/headers.ts';
import type { WebhookHeaders } from '../../webhooks/adapters/headers.ts';
import { attempt, markHandled } from '../../webhooks/handler/attempt.ts';
import type { HandlerPart } from '../../webhooks/handler/handlerPart.ts';
import type { Reporter } from '../../webhooks/handler/reporter.ts';
import type { HandlerRules, WebhookResponse } from '../../webhooks/handler/types.ts';
import type { SeenStore } from '../../webhooks/seen.ts';
import type {
  AnyAbi,
  EvmHandlerMethods,
  HandlerFunction,
  HandlerFunctions,
  WithChainId,
} from './handlerMethods.ts';
import type { ReceivedWebhook } from './webhook.ts';

/**
 * Creates the part of a handler for EVM streams.
 * @param itself returns the handler, which its methods return.
 */
export function createEvmPart(
  rules: HandlerRules<AnyAbi>,
  seen: SeenStore | false,
  reporter: Reporter,
  itself: () => unknown,
): HandlerPart<ReceivedWebhook, EvmHandlerMethods<AnyAbi>> {
  const { abi } = rules;
  const events = new Map<string, Phases<WithChainId<DecodedLog>>[]>();
  const calls = new Map<string, Phases<WithChainId<DecodedCall>>[]>();
  const reads = new Map<string, Phases<WithChainId<DecodedRead>>[]>();
  const undecoded: Phases<WithChainId<UndecodedLog>>[] = [];
  const webhooks: Phases<EvmWebhook>[] = [];
  const removals: HandlerFunction<EvmWebhook>[] = [];
  const streamsWithoutAbi = new Set<string>();
  const inTurn = createTurns();

  const handle = (delivery: ReceivedWebhook, headers: WebhookHeaders): Promise<WebhookResponse> => {
    const pair = pairId(delivery, headers);
    return inTurn(pair, () =>
      attempt(reporter, delivery, async () => {
        const { confirmed, removed, streamId } = delivery.webhook;
        const isPaired = seen !== false && hasPairs();
        const removal = `${pair}.removed`;
        // A removed block may return, so an unconfirmed delivery after the removal webhook is not
        // late.
        const isLate =
          isPaired && !confirmed && (await seen.has(pair)) && !(await seen.has(removal));
        if (lacksAbi(delivery.webhook)) {
          streamsWithoutAbi.add(streamId);
          const message = `No ABI for the events of stream ${streamId}`;
          reporter.failed(new SluiceError('missing_abi', message), delivery);
        }
        await callAll(delivery, isLate);
        if (isPaired && (confirmed || removed)) {
          await markHandled(reporter, seen, removed ? removal : pair, delivery);
        }
      }),
    );
  };

  /**
   * Returns whether functions are registered for events, but neither the handler nor the webhook has
   * an ABI. Each stream is reported once.
   */
  const lacksAbi = ({ logs, abi: own, streamId, removed }: EvmWebhook): boolean =>
    logs.length > 0 &&
    !removed &&
    !hasItems(abi ?? own) &&
    events.size > 0 &&
    undecoded.length === 0 &&
    !streamsWithoutAbi.has(streamId);

  const hasPairs = (): boolean =>
    [...events.values(), ...calls.values(), ...reads.values(), undecoded, webhooks]
      .flat()
      .some(isPair);

  const callAll = async (delivery: ReceivedWebhook, isLate: boolean): Promise<void> => {
    const { webhook } = delivery;
    if (webhook.removed) {
      for (const handle of removals) await handle(webhook, delivery);
      return;
    }
    const call = async <T>(phases: readonly Phases<T>[] | undefined, value: T) => {
      for (const phase of phases ?? []) {
        if (isLate && isPair(phase)) continue;
        await (webhook.confirmed ? phase.confirmed : phase.unconfirmed)?.(value, delivery);
      }
    };
    const chainId = webhook.chainId || '0x1';
    if (webhook.logs.length > 0 && (events.size > 0 || undecoded.length > 0)) {
      const { decoded, undecoded: unknown } = decodeKnown(webhook.logs, abi ?? webhook.abi, rules);
      for (const log of decoded) await call(events.get(log.name), { ...log, chainId });
      for (const log of unknown) await call(undecoded, { ...log, chainId });
    }
    if (webhook.calls !== undefined && calls.size > 0) {
      for (const each of decodeKnownCalls(webhook.calls, abi, rules).decoded) {
        await call(calls.get(each.name), { ...each, chainId });
      }
    }
    if (webhook.reads !== undefined && reads.size > 0) {
      for (const each of decodeKnownReads(webhook.reads)) {
        await call(reads.get(each.name), { ...each, chainId });
      }
    }
    await call(webhooks, webhook);
  };

  return {
    handle,
    methods: {
      on(name: string, handles: HandlerFunctions<WithChainId<DecodedLog>>) {
        requireItem(abi, 'event', name);
        register(events, name, handles);
        return itself();
      },
      onCall(name: string, handles: HandlerFunctions<WithChainId<DecodedCall>>) {
        requireItem(abi, 'function', name);
        register(calls, name, handles);
        return itself();
      },
      onRead(name: string, handles: HandlerFunctions<WithChainId<DecodedRead>>) {
        register(reads, name, handles);
        return itself();
      },
      onUndecoded(handles: HandlerFunctions<WithChainId<UndecodedLog>>) {
        undecoded.push(toPhases(handles));
        return itself();
      },
      onWebhook(handles: HandlerFunctions<EvmWebhook>) {
        webhooks.push(toPhases(handles));
        return itself();
      },
      onRemoved(handle: HandlerFunction<EvmWebhook>) {
        removals.push(handle);
        return itself();
      },
    },
  };
}

function requireItem(abi: AnyAbi | undefined, type: 'event' | 'function', name: string): void {
  if (abi === undefined || abi.some((it) => it.type === type && it.name === name)) return;
  throw new SluiceError('invalid_argument', `The ABI has no ${type} ${name}`, {
    hint: 'Check the spelling and the ABI.',
  });
}

function register<T>(
  handlers: Map<string, Phases<T>[]>,
  name: string,
  handles: HandlerFunctions<T>,
): void {
  handlers.set(name, [...(handlers.get(name) ?? []), toPhases(handles)]);
}

/** Creates a function that runs work with the same key sequentially. */
function createTurns(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const turns = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const mine = Promise.resolve(turns.get(key)).then(work);
    const settled = mine
      .catch(() => undefined)
      .finally(() => turns.get(key) === settled && turns.delete(key));
    turns.set(key, settled);
    return mine;
  };
}

interface Phases<T> {
  readonly unconfirmed?: HandlerFunction<T>;
  readonly confirmed?: HandlerFunction<T>;
}

const toPhases = <T>(handles: HandlerFunctions<T>): Phases<T> =>
  typeof handles === 'function' ? { confirmed: handles } : handles;

const isPair = ({ unconfirmed, confirmed }: Phases<never>): boolean =>
  unconfirmed !== undefined && confirmed !== undefined;

/**
 * Returns a key that all deliveries of a block to a stream share. If a block is split, each part
 * has a separate key, and so have values on chain.
 */
function pairId({ webhook }: ReceivedWebhook, headers: WebhookHeaders): string {
  const part = /^\d{1,6}\/\d{1,6}$/.exec(readHeader(headers, WEBHOOK_HEADERS.part) ?? '')?.[0];
  const { streamId, chainId, block, reads } = webhook;
  const kind = reads === undefined ? [] : ['reads'];
  return ['pair', streamId, chainId, block?.hash, part ?? '1/1', ...kind].join('.');
}
