/** One node of a chain: asked at its own pace, and known by what became of it. */
import { type ProviderHealth, type ProviderState, toChainId } from '@sluice/kit/contract';
import type { BlockHeader } from '../store/store.ts';
import { createDecaying } from './decaying.ts';
import { toHeader } from './header.ts';
import { object } from './json.ts';
import { createPace } from './pace.ts';
import { type RpcClient, createRpcClient } from './rpc.ts';
import { SourceError } from './source.ts';

export interface Provider {
  readonly name: string;
  /** Lower is better; milliseconds, in a manner of speaking. */
  readonly score: number;
  readonly state: ProviderState;
  /** Until when it is best left alone, in Unix milliseconds; 0 when it may be asked. */
  readonly restsUntil: number;
  /** Whether what it says about a height counts. */
  readonly hasVoice: boolean;
  request(method: string, params: readonly unknown[]): Promise<unknown>;
  /** Its newest block. */
  readHead(): Promise<BlockHeader>;
  /** The newest block it calls final; undefined where it calls none so. */
  readFinalized(): Promise<BlockHeader | undefined>;
  /** Its block at this height; undefined where it has none. */
  readHeaderAt(number: number): Promise<BlockHeader | undefined>;
  /** The block with this hash; undefined where it does not know it. */
  readHeaderOf(hash: string): Promise<BlockHeader | undefined>;
  /** Whether it gave us this block, or spoke of it, not long ago. */
  knows(hash: string): boolean;
  /** Reads which chain it serves, once; again after it was away or was told to forget. */
  identify(): Promise<Identity>;
  forgetIdentity(): void;
  /** It serves another chain: it is left out, and looked at again now and then. */
  exclude(why: string): void;
  /** An answer had to be refused: a part was missing, or contradicted another. */
  fault(kind: 'missing' | 'inconsistent'): void;
  /** It was alone with its block at a height, or one of two that differ. */
  disagreed(outvoted: boolean): void;
  /** How its head stands to the best of the others, looked at in the same moment. */
  compare(behind: number): void;
  health(): ProviderHealth;
  subscribeHeads(onHead: () => void): () => void;
  close(): Promise<void>;
}

/** What a node says it serves. */
export interface Identity {
  /** Hash of block 0; undefined where the node no longer has it. */
  genesisHash: string | undefined;
}

const PROBE_MIN_MS = 1_000;
const PROBE_MAX_MS = 60_000;
/** A wrong URL does not become right by itself; a node that was set up anew may. */
const PROBE_WRONG_CHAIN_MS = 60_000;
/** More than the blocks that come while two nodes are asked. */
const LAG_BLOCKS = 3;
/** A node that others have passed and whose head did not move for this long speaks of the past. */
const STALLED_MS = 60_000;
const UNKNOWN_LATENCY_MS = 100;
/** Differences below this are no reason to turn from one node to another. */
const LATENCY_FLOOR_MS = 25;
/** Of the moving average of latencies, the weight of the newest. */
const LATENCY_WEIGHT = 0.2;
/** What a failure, a block of lag and a lie cost, against milliseconds of latency. */
const TROUBLE_SCORE = 1_000;
const LAG_SCORE = 200;
const DOUBT_SCORE = 60_000;
const TROUBLE_HALF_LIFE_MS = 30_000;
const DOUBT_HALF_LIFE_MS = 300_000;
/** A fork at the head outvotes a good node now and then; one that lies is outvoted again and again. */
const OUTVOTED_DOUBT = 0.2;
const CONTRADICTION_DOUBT = 1;
/** From this much doubt on its word does not count against another's. */
const VOICELESS_DOUBT = 0.5;
const KNOWN_BLOCKS = 512;
/** A contract that refuses a call refuses it everywhere; that is no fault of the node. */
const REVERTED =
  /revert|out of gas|gas required exceeds|invalid (opcode|jump)|stack (under|over)flow|VM (execution|exception)|EVM error|execution (aborted|timeout|timed out)/i;

export const isReverted = (error: SourceError): boolean =>
  error.kind === 'refused' && (error.code === 3 || REVERTED.test(error.message));

/** Headers: what latency is measured by, since whole blocks take as long as they are large. */
const isShort = (method: string, params: readonly unknown[]): boolean =>
  method.startsWith('eth_getBlockBy') && params[1] === false;

/** @param name of the node in messages: its host, and a number where a host is given twice. */
export function createProvider(chain: string, url: string, name: string): Provider {
  const client: RpcClient = createRpcClient(url, name);
  const pace = createPace(name);
  const trouble = createDecaying(TROUBLE_HALF_LIFE_MS);
  const doubt = createDecaying(DOUBT_HALF_LIFE_MS);
  const known = new Set<string>();
  let head: number | null = null;
  let headHash = '';
  let headMovedAt = Date.now();
  let behind = 0;
  let behindSince: number | undefined;
  let latencyMs: number | null = null;
  let failures = 0;
  let disagreements = 0;
  let wrong = '';
  let lastError = '';
  let probeAt = 0;
  let probeMs = PROBE_MIN_MS;
  let isAway = false;
  let identity: Promise<Identity> | undefined;

  const remember = (hash: string): void => {
    known.delete(hash);
    known.add(hash);
    if (known.size > KNOWN_BLOCKS) known.delete(known.values().next().value!);
  };

  const noteError = (error: unknown): void => {
    if (!(error instanceof SourceError) || isReverted(error)) return;
    // What a node does not offer, or not in this size, is asked of another, or in another way.
    if (error.kind === 'unsupported' || error.kind === 'too-large') return;
    failures++;
    lastError = error.message;
    if (error.kind === 'rate-limited') return;
    trouble.add(1);
    if (error.kind !== 'unreachable') return;
    // Whatever comes back after this may be another node.
    identity = undefined;
    if (isAway && Date.now() < probeAt) return;
    probeMs = isAway ? Math.min(probeMs * 2, PROBE_MAX_MS) : PROBE_MIN_MS;
    probeAt = Date.now() + probeMs;
    isAway = true;
  };

  const measure = (ms: number): void => {
    latencyMs = latencyMs === null ? ms : latencyMs + (ms - latencyMs) * LATENCY_WEIGHT;
  };

  const request = (method: string, params: readonly unknown[]): Promise<unknown> =>
    pace.run(async () => {
      try {
        const start = performance.now();
        const result = await client.request(method, params);
        isAway = false;
        if (isShort(method, params)) measure(performance.now() - start);
        return result;
      } catch (error) {
        noteError(error);
        throw error;
      }
    });

  const readBlockHeader = async (
    method: string,
    at: string,
    what: string,
  ): Promise<BlockHeader | undefined> => {
    const answer = await request(method, [at, false]);
    if (answer === null) return undefined;
    const header = toHeader(chain, object(answer, `${name}: ${what}`));
    remember(header.hash);
    return header;
  };

  const readIdentity = async (): Promise<Identity> => {
    const answer = await request('eth_chainId', []);
    const id = toChainId(answer);
    if (id !== chain) {
      throw new SourceError(
        'wrong-chain',
        `${name} serves chain ${id ?? JSON.stringify(answer)}, not ${chain}: correct --chain ${chain}=<rpcUrl>`,
      );
    }
    try {
      const genesis = await readBlockHeader('eth_getBlockByNumber', '0x0', 'block 0');
      return { genesisHash: genesis?.hash };
    } catch (error) {
      if (error instanceof SourceError && /^(missing|unsupported|refused)$/.test(error.kind)) {
        return { genesisHash: undefined };
      }
      throw error;
    }
  };

  const exclude = (why: string): void => {
    wrong = why;
    probeAt = Date.now() + PROBE_WRONG_CHAIN_MS;
    identity = undefined;
  };

  const provider: Provider = {
    name,
    get score() {
      return (
        Math.max(latencyMs ?? UNKNOWN_LATENCY_MS, LATENCY_FLOOR_MS) +
        behind * LAG_SCORE +
        trouble.read() * TROUBLE_SCORE +
        doubt.read() * DOUBT_SCORE
      );
    },
    get state() {
      if (wrong !== '') return 'wrong-chain';
      if (isAway) return 'down';
      if (pace.pausedUntil > 0) return 'limited';
      return behind > LAG_BLOCKS ? 'lagging' : 'good';
    },
    get restsUntil() {
      const until = Math.max(wrong !== '' || isAway ? probeAt : 0, pace.pausedUntil);
      return until > Date.now() ? until : 0;
    },
    get hasVoice() {
      const stalled =
        behindSince !== undefined && Date.now() - Math.max(behindSince, headMovedAt) > STALLED_MS;
      return (
        wrong === '' &&
        !isAway &&
        pace.pausedUntil === 0 &&
        !stalled &&
        doubt.read() < VOICELESS_DOUBT
      );
    },
    request,
    async readHead() {
      const header = await readBlockHeader('eth_getBlockByNumber', 'latest', 'the latest block');
      if (header === undefined) throw new SourceError('missing', `${name}: it has no latest block`);
      head = header.number;
      if (header.hash !== headHash) headMovedAt = Date.now();
      headHash = header.hash;
      return header;
    },
    async readFinalized() {
      try {
        return await readBlockHeader('eth_getBlockByNumber', 'finalized', 'the finalized block');
      } catch (error) {
        // Nodes word it in many ways that they do not know the tag, or no such block yet.
        if (error instanceof SourceError && /^(unsupported|missing|refused)$/.test(error.kind)) {
          return undefined;
        }
        throw error;
      }
    },
    async readHeaderAt(number) {
      const what = `block ${number}`;
      const header = await readBlockHeader(
        'eth_getBlockByNumber',
        `0x${number.toString(16)}`,
        what,
      );
      if (header !== undefined && header.number !== number) {
        throw new SourceError('inconsistent', `${name}: ${what} came as block ${header.number}`);
      }
      return header;
    },
    async readHeaderOf(hash) {
      const header = await readBlockHeader('eth_getBlockByHash', hash, `block ${hash}`);
      if (header !== undefined && header.hash !== hash) {
        throw new SourceError('inconsistent', `${name}: block ${hash} came as ${header.hash}`);
      }
      return header;
    },
    knows: (hash) => known.has(hash),
    identify() {
      identity ??= (async () => {
        try {
          const found = await readIdentity();
          wrong = '';
          return found;
        } catch (error) {
          identity = undefined;
          if (error instanceof SourceError && error.kind === 'wrong-chain') exclude(error.message);
          throw error;
        }
      })();
      return identity;
    },
    forgetIdentity() {
      identity = undefined;
    },
    exclude,
    fault(kind) {
      failures++;
      trouble.add(1);
      if (kind === 'inconsistent') doubt.add(CONTRADICTION_DOUBT);
    },
    disagreed(outvoted) {
      disagreements++;
      if (outvoted) doubt.add(OUTVOTED_DOUBT);
    },
    compare(blocks) {
      behind = Math.max(0, blocks);
      behindSince = behind === 0 ? undefined : (behindSince ?? Date.now());
    },
    health: () => {
      const { state } = provider;
      return {
        name,
        state,
        message: state === 'wrong-chain' ? wrong : /^(down|limited)$/.test(state) ? lastError : '',
        head,
        latencyMs: latencyMs === null ? null : Math.round(latencyMs * 10) / 10,
        failures,
        disagreements,
      };
    },
    subscribeHeads: client.subscribeHeads,
    close: client.close,
  };
  return provider;
}
