/** Reads the blocks of an EVM chain from one of its nodes. */
import { setTimeout as wait } from 'node:timers/promises';
import { toChainId } from '@sluice/kit/contract';
import type { BlockHeader } from '../../../store/blocks/contract.ts';
import { toHeader } from './header.ts';
import type { HeaderProof } from './headerLayout.ts';
import type { HeaderRules } from './headerRules.ts';
import { type Json, toObject, showValue, toHex } from '../../../ingest/json.ts';
import type { Connect } from '../../../ingest/nodes/anyProvider.ts';
import type { RpcClient } from './rpc/rpcClient.ts';
import { SourceError, isLacking, isOfKind } from '../../../ingest/source.ts';
import { createNodeTracker } from '../../../ingest/nodes/nodeTracker.ts';
import type { RequestOrder } from '../../../ingest/nodes/pace.ts';
import type { AnyProvider, Identity } from '../../../ingest/nodes/anyProvider.ts';
import { createRpcClient } from './rpc/createRpcClient.ts';
import { flagOf } from '../../../config/settings.ts';

/** A block as a node returned it. */
export interface BlockBody {
  header: BlockHeader;
  body: Json;
  /** The check of its header; undefined if headers are not checked. */
  proof: HeaderProof | undefined;
}

export interface Provider extends AnyProvider {
  /** Returns the block at this height, or undefined if the node does not have it. */
  readBodyAt(number: number, withTransactions: boolean): Promise<BlockBody | undefined>;
  /** Returns the block with this hash, or undefined if the node does not have it. */
  readBodyOf(hash: string, withTransactions: boolean): Promise<BlockBody | undefined>;
  request(method: string, params: readonly unknown[], how?: RequestHow): Promise<unknown>;
  /**
   * Calls back for each head that the node pushes; nodes over HTTP push none. Returns a function
   * that unsubscribes.
   */
  subscribeHeads(onHead: () => void): () => void;
}

interface RequestHow {
  /** Default: `ordinary`. */
  order?: RequestOrder | undefined;
  /**
   * If true, an error due to missing data or an unsupported method does not count against the node.
   */
  isOptional?: boolean | undefined;
  /** Maximum response size; default 256 MiB. */
  maxBytes?: number | undefined;
}

/**
 * Matches the message of a call that failed in the EVM. Such a call fails on every node, so the
 * failure does not count against this node.
 */
const REVERTED =
  /revert|out of gas|gas required exceeds|invalid (opcode|jump)|stack (under|over)flow|VM (execution|exception)|EVM error|execution (aborted|timeout|timed out)/i;

export const isReverted = (error: SourceError): boolean =>
  error.kind === 'refused' && (error.rpcCode === 3 || REVERTED.test(error.message));

/**
 * Returns whether the request reads only a header. The latency is measured only with these
 * requests, because the time to read a complete block depends on its size.
 */
const isShort = (method: string, params: readonly unknown[]): boolean =>
  method.startsWith('eth_getBlockBy') && params[1] === false;

/** Limits for waiting out rate limits: the longest wait, and the number of tries per request. */
const PATIENCE_MS = 5_000;
const PATIENT_TRIES = 8;

/** Keeps the newest header that a node pushed, until `readHead` takes it. */
function createPushedHeads(name: string, headers: HeaderRules) {
  let newest: BlockHeader | undefined;
  let taken: string | undefined;
  /**
   * True once the node has announced a block that it could not return, as happens when several
   * nodes share one URL. Pushed headers are then ignored.
   */
  let isEarly = false;
  return {
    receive(result: unknown): void {
      try {
        const header = toObject(result, name);
        newest = headers.takesPushed(header) ? toHeader(header) : undefined;
      } catch {
        // Without a pushed header, `readHead` requests the head.
        newest = undefined;
      }
    },
    take(): BlockHeader | undefined {
      if (isEarly || newest === undefined || newest.hash === taken) return undefined;
      taken = newest.hash;
      return newest;
    },
    recordMissing(hash: unknown): void {
      isEarly ||= hash === taken && taken !== undefined;
    },
  };
}

/**
 * @param name name of the node in messages: its host, numbered if several nodes share it
 * @param isAlone returns whether no other node can currently take over; requests then wait out a
 * short rate limit, because rereading the entire block would cost more
 */
export function createProvider(
  chain: string,
  url: string,
  name: string,
  headers: HeaderRules,
  isAlone: () => boolean = () => false,
  connect?: Connect,
): Provider {
  const client: RpcClient = createRpcClient(url, name, connect);
  const closing = new AbortController();

  const pushedHeads = createPushedHeads(name, headers);

  const request: Provider['request'] = async (method, params, how = {}) => {
    const { order, isOptional, maxBytes } = how;
    for (let tries = 1; ; tries++) {
      try {
        const result = await tracker.run(() => client.request(method, params, maxBytes), {
          isShort: isShort(method, params),
          order,
          isOptional,
        });
        if (result === null) pushedHeads.recordMissing(params[0]);
        return result;
      } catch (error) {
        const isLimited = isOfKind(error, 'rate-limited') && (order ?? 'ordinary') === 'ordinary';
        if (!isLimited || tries === PATIENT_TRIES || !isAlone()) throw error;
        const waitMs = error.retryAfterMs ?? 0;
        if (waitMs > PATIENCE_MS || closing.signal.aborted) throw error;
        await wait(waitMs, undefined, { signal: closing.signal }).catch(() => {});
      }
    }
  };

  const readBody = async (
    method: string,
    params: readonly [at: string, withTransactions: boolean],
    what: string,
    how?: RequestHow,
  ): Promise<BlockBody | undefined> => {
    const answer = await request(method, params, how);
    if (answer === null) return undefined;
    const body = toObject(answer, `${name}: ${what}`);
    const header = toHeader(body);
    const proof = await headers.check(body, header, { node: name, isAlone: isAlone() });
    tracker.remember(header.hash);
    return { header, body, proof };
  };

  /** Reads the header of the block at a height in hex, or with a tag. */
  const readTaggedHeader = async (
    at: string,
    what: string,
    how?: RequestHow,
  ): Promise<BlockHeader | undefined> =>
    (await readBody('eth_getBlockByNumber', [at, false], what, how))?.header;

  const readBodyAt: Provider['readBodyAt'] = async (number, withTransactions) => {
    const what = `block ${number}`;
    const at = toHex(number);
    const read = await readBody('eth_getBlockByNumber', [at, withTransactions], what);
    if (read !== undefined && read.header.number !== number) {
      throw new SourceError(
        'inconsistent',
        `${name}: the node returned block ${read.header.number} for ${what}`,
      );
    }
    return read;
  };

  const readBodyOf: Provider['readBodyOf'] = async (hash, withTransactions) => {
    const read = await readBody('eth_getBlockByHash', [hash, withTransactions], `block ${hash}`);
    if (read !== undefined && read.header.hash !== hash) {
      throw new SourceError(
        'inconsistent',
        `${name}: the node returned block ${read.header.hash} for ${hash}`,
      );
    }
    return read;
  };

  const readIdentity = async (): Promise<Identity> => {
    const answer = await request('eth_chainId', []);
    const id = toChainId(answer);
    if (id !== chain) {
      throw new SourceError(
        'wrong-chain',
        `${name} serves chain ${id ?? showValue(answer)}, not ${chain}. Correct ${flagOf('chains')} ${chain}=<rpcUrl>`,
      );
    }
    try {
      const genesis = await readTaggedHeader('0x0', 'block 0');
      return { genesisHash: genesis?.hash };
    } catch (error) {
      if (error instanceof SourceError && isLacking(error)) {
        return { genesisHash: undefined };
      }
      throw error;
    }
  };

  const tracker = createNodeTracker(name, readIdentity, { isExpected: isReverted });
  return Object.assign(tracker, {
    request,
    async readHead() {
      const header = pushedHeads.take() ?? (await readTaggedHeader('latest', 'the latest block'));
      if (header === undefined) {
        throw new SourceError('missing', `${name}: the latest block is missing`);
      }
      tracker.remember(header.hash);
      tracker.recordHead(header);
      return header;
    },
    async readTagged(tag, order) {
      try {
        const what = `the ${tag} block`;
        return await readTaggedHeader(tag, what, {
          order,
          isOptional: true,
        });
      } catch (error) {
        // Nodes report an unknown tag or a missing block in different ways.
        if (error instanceof SourceError && isLacking(error)) return undefined;
        throw error;
      }
    },
    readHeaderAt: async (number) => (await readBodyAt(number, false))?.header,
    readBodyAt,
    readHeaderOf: async (hash) => (await readBodyOf(hash, false))?.header,
    readBodyOf,
    subscribeHeads: (onHead) =>
      client.subscribeHeads((result) => {
        pushedHeads.receive(result);
        onHead();
      }),
    async close() {
      closing.abort();
      await client.close();
    },
  } satisfies Omit<Provider, keyof typeof tracker>);
}
