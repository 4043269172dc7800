/**
 * The nodes of one chain: which is followed, who is asked next where it fails, and which are left
 * out. The one followed is left only for one that is clearly better.
 */
import type { ChainAgreement, ProviderHealth } from '@sluice/kit/contract';
import type { Log } from '../../base/log.ts';
import type { BlockHeader } from '../../store/blocks/contract.ts';
import { isReverted } from '../evm/provider.ts';
import { createStateLog, survey } from './survey.ts';
import { type FinalityTag, SourceError } from '../source.ts';
import type { AnyProvider } from './standing.ts';

type Node = Pick<AnyProvider, 'name' | 'identify' | 'forgetIdentity' | 'exclude'>;

/** Which chain the nodes serve: by block 0's hash, of Aptos by the chain id. One that serves another is left out. */
export interface Identities {
  /** Reads which chain it serves, where that is not known, and leaves it out where it is not ours. */
  admit(provider: Node): Promise<void>;
  /**
   * Reads anew which chain is ours: the expected one where a node has it.
   *
   * @param ask as in {@link Providers.ask}
   */
  readGenesisHash(
    ask: (read: (provider: Node) => Promise<string | undefined>) => Promise<string | undefined>,
    expected: string | undefined,
  ): Promise<string>;
}

/** @param how.mark what tells chains apart, for messages */
function createIdentities(
  { chain, flag, mark }: { chain: string; flag: string; mark: string },
  all: readonly Node[],
): Identities {
  let genesisHash: string | undefined;

  /** The genesis hash that all of those that answer share; for a chain seen for the first time. */
  const readFirstGenesis = async (): Promise<string> => {
    const results = await Promise.allSettled(all.map((each) => each.identify()));
    const found = results.flatMap((result, n) =>
      result.status === 'fulfilled' && result.value.genesisHash !== undefined
        ? [{ name: all[n]!.name, hash: result.value.genesisHash }]
        : [],
    );
    const [one, ...others] = found;
    if (one === undefined) {
      const failed = results.find((result) => result.status === 'rejected');
      throw failed?.reason ?? new SourceError('missing', `${all[0]!.name}: it has no ${mark}`);
    }
    const other = others.find(({ hash }) => hash !== one.hash);
    if (other !== undefined) {
      throw new SourceError(
        'wrong-chain',
        `${mark} of ${one.name} is ${one.hash}, that of ${other.name} ${other.hash}: they serve different chains under ${chain}; remove the wrong ${flag}`,
      );
    }
    return one.hash;
  };

  return {
    async admit(provider) {
      const identity = await provider.identify();
      if (genesisHash === undefined || identity.genesisHash === undefined) return;
      if (identity.genesisHash === genesisHash) return;
      const why = `${provider.name}: its ${mark} is ${identity.genesisHash}, that of the others ${genesisHash}: another chain answers under ${chain}; correct its ${flag}`;
      provider.exclude(why);
      throw new SourceError('wrong-chain', why);
    },

    async readGenesisHash(ask, expected) {
      genesisHash = undefined;
      for (const each of all) each.forgetIdentity();
      if (expected === undefined) return (genesisHash = await readFirstGenesis());
      let another: string | undefined;
      const found = await ask(async (provider) => {
        const identity = await provider.identify();
        // A node that no longer has block 0 is of the right chain by its id.
        if (identity.genesisHash === undefined || identity.genesisHash === expected)
          return expected;
        another ??= identity.genesisHash;
        return undefined;
      }).catch((error: unknown) => {
        if (another === undefined) throw error;
      });
      return (genesisHash = found ?? another!);
    },
  };
}

export interface Providers<Provider extends AnyProvider> {
  readonly all: readonly Provider[];
  /** Block 0's hash; see {@link Source.readGenesisHash}. */
  readGenesisHash(expected?: string): Promise<string>;
  readHead(): Promise<BlockHeader>;
  readHeaderAt(number: number): Promise<BlockHeader | undefined>;
  readHeaderOf(hash: string): Promise<BlockHeader | undefined>;
  doubt(hash: string): void;
  /**
   * The newest block that all who say so call final: none is believed alone, since what is confirmed
   * too early cannot be taken back. Undefined where nobody knows such a block.
   */
  readFinalized(): Promise<BlockHeader | undefined>;
  /** Of the first provider that knows the tag; asked after all that blocks are made of. */
  readTagged(tag: FinalityTag): Promise<BlockHeader | undefined>;
  /**
   * What the first provider gives that can: those that know this block first, then the best.
   * `undefined` from one means that it has nothing to say, and the next is asked.
   * Throws the first provider's SourceError where none gives anything; undefined where none failed.
   *
   * @param first is asked before all others
   */
  ask<T>(
    read: (provider: Provider) => Promise<T | undefined>,
    prefer?: { hash?: string; first?: Provider },
  ): Promise<T | undefined>;
  /** Looks at all from time to time, also at those that rest; answers with the way to stop it. */
  survey(everyMs: number): () => void;
  health(): ProviderHealth[];
  agreement(): ChainAgreement | null;
  close(): Promise<void>;
}

/** What another provider's score must be below, against that of the one followed. */
const CLEARLY_BETTER = 0.5;
/** Behind one URL may be several nodes in turn; where something is missing the next may have it. */
const ROUNDS = 2;
const GIVERS_REMEMBERED = 512;

export function createProviders<Provider extends AnyProvider>({
  chain,
  urls,
  flag,
  identity: mark,
  log,
  create,
}: {
  chain: string;
  urls: readonly string[];
  /** Of the command line, which names the nodes of this chain. */
  flag: string;
  /** What tells chains apart, for messages. */
  identity: 'block 0' | 'chain id';
  log: Log;
  /** @param name of the node in messages */
  create(url: string, name: string): Provider;
}): Providers<Provider> {
  const all = urls.map((url, n) => create(url, nameOf(urls, n)));
  const agreement: Agreement = createAgreement(all, flag);
  let followed = all[0]!;
  /** Who gave a header, by hash. */
  const givers = new Map<string, Provider>();
  const logStates = createStateLog(chain, log);
  const identities = createIdentities({ chain, flag, mark }, all);

  const isOut = (each: Provider): boolean => each.state === 'down' || each.state === 'wrong-chain';

  /**
   * Best first, those that are out last: the survey finds out whether they are back. Those that rest
   * are asked only where no other is left.
   */
  const ranked = (): Provider[] => {
    const awake = all.filter((each) => each.restsUntil === 0);
    if (awake.length === 0) return all.toSorted((a, b) => a.restsUntil - b.restsUntil);
    const rank = (each: Provider): number =>
      each === followed ? each.score * CLEARLY_BETTER : each.score;
    return awake.toSorted((a, b) => Number(isOut(a)) - Number(isOut(b)) || rank(a) - rank(b));
  };

  const remember = (header: BlockHeader, giver: Provider): BlockHeader => {
    givers.delete(header.hash);
    givers.set(header.hash, giver);
    if (givers.size > GIVERS_REMEMBERED) givers.delete(givers.keys().next().value!);
    return header;
  };

  const noteStates = (): void => {
    if (all.length > 1) logStates(all);
  };

  const ask: Providers<Provider>['ask'] = async (read, { hash, first } = {}) => {
    const order = ranked();
    if (hash !== undefined) {
      order.sort((a, b) => Number(b.knows(hash)) - Number(a.knows(hash)));
    }
    if (first !== undefined) order.sort((a, b) => Number(b === first) - Number(a === first));
    let failure: SourceError | undefined;
    for (let round = 0; round < ROUNDS; round++) {
      for (const provider of order) {
        try {
          await identities.admit(provider);
          const found = await read(provider);
          if (found !== undefined) return found;
        } catch (error) {
          if (!(error instanceof SourceError)) throw error;
          if (error.kind === 'missing' || error.kind === 'inconsistent') provider.fault(error.kind);
          if (isReverted(error) || error.kind === 'disagreement') throw error;
          failure ??= error;
        }
      }
      if (failure !== undefined && failure.kind !== 'missing') break;
    }
    noteStates();
    if (failure !== undefined) throw failure;
    return undefined;
  };

  return {
    all,
    ask,
    readGenesisHash: (expected) => identities.readGenesisHash(ask, expected),

    async readHead() {
      const head = await ask(async (provider) => {
        const header = await provider.readHead();
        if (!(await agreement.check(header, provider, true))) return undefined;
        followed = provider;
        return remember(header, provider);
      });
      if (head !== undefined) return head;
      throw new SourceError('disagreement', `the providers of ${chain} disagree about its head`);
    },

    readHeaderAt: (number) =>
      ask(async (provider) => {
        const header = await provider.readHeaderAt(number);
        if (header === undefined || !(await agreement.check(header, provider, false))) {
          return undefined;
        }
        return remember(header, provider);
      }),

    readHeaderOf: (hash) =>
      ask(
        async (provider) => {
          const header = await provider.readHeaderOf(hash);
          return header && remember(header, provider);
        },
        { hash },
      ),

    doubt(hash) {
      givers.get(hash)?.fault('inconsistent');
    },

    async readFinalized() {
      const results = await Promise.allSettled(
        ranked().map(async (each) => {
          await identities.admit(each);
          return each.readTagged('finalized');
        }),
      );
      const found = results.flatMap((each) =>
        each.status === 'fulfilled' && each.value !== undefined ? [each.value] : [],
      );
      if (found.length > 0) return found.reduce((a, b) => (a.number <= b.number ? a : b));
      const failed = results.find((each) => each.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
      return undefined;
    },

    readTagged: (tag) => ask((provider) => provider.readTagged(tag, 'aside')),

    survey: (everyMs) => survey(all, identities.admit, noteStates, everyMs),
    health: () => all.map((each) => ({ ...each.health(), isFollowed: each === followed })),
    agreement: agreement.latest,

    async close() {
      await Promise.all(all.map((each) => each.close()));
    },
  };
}

/** The host; where it is given more than once, with a number, since no more of a URL may be shown. */
export function nameOf(urls: readonly string[], n: number): string {
  const hosts = urls.map((url) => new URL(url).host);
  const before = hosts.slice(0, n).filter((host) => host === hosts[n]).length;
  return before === 0 ? hosts[n]! : `${hosts[n]!}#${before + 1}`;
}

/**
 * No single node decides which block stands at a height while there is another to ask. Each new
 * block is shown to a second provider; where that one has another block, all are asked and the
 * majority decides. Where there is none, nothing is taken until they agree: a fork at the head
 * settles within seconds, and a provider that stopped following its chain loses its voice.
 */
export interface Agreement {
  /**
   * Answers false where the others outvote the provider that gave this header.
   *
   * @param isHead the newest block: others may need a moment to have it, and are given one
   * @throws SourceError `disagreement` where no side has the majority
   */
  check(header: BlockHeader, giver: AnyProvider, isHead: boolean): Promise<boolean>;
  /** What came of the newest block, or of one since that was disagreed about; null before the first. */
  latest(): ChainAgreement | null;
}

/** How long the others are waited for: nodes pass a block on within a fraction of this. */
const WAIT_MS = 1_000;
const ASK_AGAIN_MS = 100;
const COUNTED = 1_024;

interface Opinion {
  provider: AnyProvider;
  hash: string;
}

/** @param flag of the command line, which names the nodes */
function createAgreement(providers: readonly AnyProvider[], flag: string): Agreement {
  /** The head agreed on last: the same one comes at every poll. An older one may be undone by now. */
  let settledHead = '';
  let latest: ChainAgreement | null = null;
  /** Disagreements already counted, oldest first. */
  const counted = new Set<string>();

  /** What a provider has at this height, if it has a block there, answers, and is believed. */
  const ask = async (provider: AnyProvider, number: number): Promise<Opinion | undefined> => {
    try {
      const header = await provider.readHeaderAt(number);
      return header && { provider, hash: header.hash };
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      if (error.kind === 'inconsistent') provider.fault('inconsistent');
      return undefined;
    }
  };

  const voicesBut = (giver: AnyProvider): AnyProvider[] =>
    providers
      .filter((each) => each !== giver && each.hasVoice)
      .toSorted((a, b) => a.score - b.score);

  /** The first opinion there is: one that agrees is enough. */
  const readWitness = async (
    header: BlockHeader,
    giver: AnyProvider,
  ): Promise<Opinion | undefined> => {
    for (const provider of voicesBut(giver)) {
      const opinion = await ask(provider, header.number);
      if (opinion !== undefined) return opinion;
    }
    return undefined;
  };

  const count = (number: number, { provider, hash }: Opinion, outvoted: boolean): void => {
    const key = `${provider.name} ${number} ${hash} ${outvoted}`;
    if (counted.has(key)) return;
    counted.add(key);
    if (counted.size > COUNTED) counted.delete(counted.values().next().value!);
    provider.disagreed(outvoted);
  };

  /** Of all opinions, the hash that more than half hold. */
  const vote = async (
    header: BlockHeader,
    giver: AnyProvider,
  ): Promise<{ winner: string | undefined; opinions: Opinion[] }> => {
    const asked = await Promise.all(voicesBut(giver).map((each) => ask(each, header.number)));
    const opinions = [
      // A giver that was caught lying is heard no more than the others like it.
      ...(giver.hasVoice ? [{ provider: giver, hash: header.hash }] : []),
      ...asked.filter((each) => each !== undefined),
    ];
    const votes = Map.groupBy(opinions, ({ hash }) => hash);
    const winner = [...votes].find(([, each]) => each.length * 2 > opinions.length)?.[0];
    return { winner, opinions };
  };

  return {
    latest: () => latest,
    async check(header, giver, isHead) {
      if (header.hash === settledHead) return true;
      let state: ChainAgreement['state'] = 'alone';
      const deadline = performance.now() + WAIT_MS;
      for (;;) {
        if (voicesBut(giver).length === 0) break;
        const witness = await readWitness(header, giver);
        if (witness?.hash === header.hash) {
          state = 'agreed';
          break;
        }
        if (witness !== undefined) {
          const { winner, opinions } = await vote(header, giver);
          if (winner !== undefined) {
            for (const each of opinions) {
              if (each.hash !== winner) count(header.number, each, true);
            }
            if (winner !== header.hash) return false;
            state = 'outvoted';
            break;
          }
          if (performance.now() > deadline) {
            for (const each of opinions) count(header.number, each, false);
            latest = { blockNumber: header.number, state: 'disagreed' };
            throw new SourceError('disagreement', describe(header.number, opinions, flag));
          }
        } else if (!isHead || performance.now() > deadline) {
          break;
        }
        await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS));
      }
      if (isHead) {
        settledHead = header.hash;
        latest = { blockNumber: header.number, state };
      }
      return true;
    },
  };
}

function describe(number: number, opinions: readonly Opinion[], flag: string): string {
  const sides = opinions.map(({ provider, hash }) => `${provider.name} has ${hash}`).join(', ');
  return `the providers disagree about block ${number} (${sides}): nothing is taken until they agree; a third provider, one more ${flag}, would decide`;
}
