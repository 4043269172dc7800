/**
 * The nodes of one chain: which is followed, who is asked next where it fails, and which are left
 * out. The one followed is left only for one that is clearly better.
 */
import type { ChainAgreement, ProviderHealth } from '@sluice/kit/contract';
import type { Log } from '../../base/log.ts';
import type { BlockHeader } from '../../store/blocks/contract.ts';
import { type Agreement, createAgreement } from './agreement.ts';
import { isReverted } from '../evm/provider.ts';
import { createIdentities } from './identities.ts';
import { createStateLog, survey } from './survey.ts';
import { type FinalityTag, SourceError } from '../source.ts';
import type { AnyProvider } from './standing.ts';

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
