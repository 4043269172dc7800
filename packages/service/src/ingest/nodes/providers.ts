/**
 * Manages the nodes of one chain: which node is the primary, which one is queried next after a
 * failure, and which are excluded. Another node replaces the primary only if it is clearly better,
 * or if the primary fails or is outvoted.
 */
import type { ChainAgreement, ProviderHealth } from '@sluice/kit/contract';
import type { Log } from '../../base/log.ts';
import type { BlockHeader, FinalityTag } from '../../store/blocks/contract.ts';
import { type Agreement, createAgreement } from './agreement.ts';
import { createIdentities } from './identities.ts';
import { operatorOf } from './operators.ts';
import { createStateLog, surveyHeads } from './survey.ts';
import { SourceError } from '../source.ts';
import type { AnyProvider, Connect } from './anyProvider.ts';

export interface Providers<Provider extends AnyProvider> {
  readonly all: readonly Provider[];
  /** Returns the identity of the chain; see {@link Source.readGenesisHash}. */
  readGenesisHash(expected?: string): Promise<string>;
  readHead(): Promise<BlockHeader>;
  readHeaderAt(number: number): Promise<BlockHeader | undefined>;
  /**
   * Returns the first result whose header is not outvoted by other nodes. `read` must read by
   * height.
   */
  readAgreed<T extends { header: BlockHeader }>(
    read: (provider: Provider) => Promise<T | undefined>,
  ): Promise<T | undefined>;
  readHeaderOf(hash: string): Promise<BlockHeader | undefined>;
  doubt(hash: string): void;
  /** Reads the tagged block; see {@link ChainSource.readTagged}. */
  readTagged(tag: FinalityTag, from: 'all' | 'any'): Promise<BlockHeader | undefined>;
  /**
   * Tries the providers by score and returns the first result. Providers that know the block
   * `prefer.hash` come first. Rethrows expected errors and disagreements immediately. If no provider has a
   * result, throws the first SourceError, or returns undefined if none failed.
   *
   * @param prefer.first provider to try before all others
   */
  ask<T>(
    read: (provider: Provider) => Promise<T | undefined>,
    prefer?: { hash?: string; first?: Provider },
  ): Promise<T | undefined>;
  /**
   * Periodically checks all nodes that are not backed off; returns a function that stops the
   * checks.
   */
  survey(everyMs: number): () => void;
  /** Returns the operator of a node. The nodes of one operator count as one witness. */
  operatorOf(node: Provider): string;
  /** Returns the nodes of other operators that currently have a vote. */
  witnesses(of: Provider): readonly Provider[];
  health(): ProviderHealth[];
  agreement(): ChainAgreement | null;
  close(): Promise<void>;
}

/** The nodes of a chain that were added through the API, not in the configuration. */
export interface AddedNodes {
  nodes: readonly { id: string; url: string }[];
  connect: Connect;
}

/** Operators of nodes by URL, if not evident from the host. */
export type Operators = Readonly<Record<string, string>>;

/** Another node replaces the primary if its score is below this fraction of the primary's score. */
const CLEARLY_BETTER = 0.5;
/**
 * Number of tries per node if data is missing. Behind a load balancer, the next try may reach a
 * node that has the data.
 */
const ROUNDS = 2;
const NODES_REMEMBERED = 512;

/** Returns the lowest block with this tag that the providers report. */
async function readLowest<Provider extends AnyProvider>(
  tag: FinalityTag,
  providers: readonly Provider[],
  admit: (provider: Provider) => Promise<void>,
): Promise<BlockHeader | undefined> {
  const results = await Promise.allSettled(
    providers.map(async (each) => {
      await admit(each);
      return each.readTagged(tag);
    }),
  );
  const found = results.flatMap((each) =>
    each.status === 'fulfilled' && each.value !== undefined ? [each.value] : [],
  );
  if (found.length > 0) return found.reduce((a, b) => (a.number <= b.number ? a : b));
  const failed = results.find((each) => each.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return undefined;
}

/**
 * @param how.name name of the node in messages
 * @param how.isAlone returns whether all other nodes are backed off
 */
type CreateNode<Provider> = (
  url: string,
  how: { name: string; isAlone: () => boolean; connect: Connect },
) => Provider;

function createNodes<Provider extends AnyProvider>(
  configured: readonly string[],
  added: AddedNodes,
  create: CreateNode<Provider>,
): Provider[] {
  const urls = [...configured, ...added.nodes.map(({ url }) => url)];
  const all: Provider[] = urls.map((url, n) =>
    create(url, {
      name: nameOf(urls, n),
      isAlone: () => all.every((each, other) => other === n || each.restsUntil > 0),
      connect: n < configured.length ? undefined : added.connect,
    }),
  );
  return all;
}

export function createProviders<Provider extends AnyProvider>({
  chain,
  urls,
  added = { nodes: [], connect: undefined },
  operators = {},
  flag,
  identity: mark,
  isExpected = () => false,
  log,
  create,
}: {
  chain: string;
  /** URLs of the configured nodes. */
  urls: readonly string[];
  /** Additional nodes, which are listed after the configured ones. Default: none. */
  added?: AddedNodes | undefined;
  /** Operators of nodes by URL. Default: see {@link operatorOf}. */
  operators?: Operators | undefined;
  /** The command-line flag that configures the nodes of this chain. */
  flag: string;
  /** Name of the value that identifies a chain, for messages. */
  identity: 'block 0' | 'chain ID';
  /** Returns whether an error is the result on every node. Default: always false. */
  isExpected?: (error: SourceError) => boolean;
  log: Log;
  create: CreateNode<Provider>;
}): Providers<Provider> {
  const all = createNodes(urls, added, create);
  const allUrls = [...urls, ...added.nodes.map(({ url }) => url)];
  const operatorOfNode = new Map<AnyProvider, string>(
    all.map((each, n) => [each, operators[allUrls[n]!] ?? operatorOf(allUrls[n]!)]),
  );
  const getOperator = (node: AnyProvider): string => operatorOfNode.get(node)!;
  const agreement: Agreement = createAgreement(all, getOperator, flag);
  let followed = all[0]!;
  /** The provider that returned each header, by block hash. */
  const givers = new Map<string, Provider>();
  const logStates = createStateLog(chain, log);
  const identities = createIdentities({ chain, flag, mark }, all);

  const isOut = (each: Provider): boolean => each.state === 'down' || each.state === 'wrong-chain';

  /**
   * Returns the nodes to query, best first, but nodes that were down or on a different chain last.
   * Backed-off nodes are returned only if no other is left.
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
    if (givers.size > NODES_REMEMBERED) givers.delete(givers.keys().next().value!);
    return header;
  };

  const recordStates = (): void => {
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
          if (isExpected(error) || error.kind === 'disagreement') throw error;
          failure ??= error;
        }
      }
      if (failure !== undefined && failure.kind !== 'missing') break;
    }
    recordStates();
    if (failure !== undefined) throw failure;
    return undefined;
  };

  const readAgreed: Providers<Provider>['readAgreed'] = (read) =>
    ask(async (provider) => {
      const found = await read(provider);
      if (found === undefined || !(await agreement.check(found.header, provider, false))) {
        return undefined;
      }
      remember(found.header, provider);
      return found;
    });

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

    readAgreed,

    async readHeaderAt(number) {
      const found = await readAgreed(async (provider) => {
        const header = await provider.readHeaderAt(number);
        return header && { header };
      });
      return found?.header;
    },

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

    readTagged: (tag, from) =>
      from === 'all'
        ? readLowest(tag, ranked(), identities.admit)
        : ask((provider) => provider.readTagged(tag, 'aside')),

    operatorOf: getOperator,
    witnesses: (of) =>
      all.filter(
        (each) => getOperator(each) !== getOperator(of) && each.hasVote && each.restsUntil === 0,
      ),

    survey: (everyMs) => surveyHeads(all, identities.admit, recordStates, everyMs),
    health: () =>
      all.map((each, n) => ({
        ...each.health(),
        isPrimary: each === followed,
        addedId: added.nodes[n - urls.length]?.id ?? null,
      })),
    agreement: agreement.latest,

    async close() {
      await Promise.all(all.map((each) => each.close()));
    },
  };
}

/**
 * Returns the host of a URL, numbered if an earlier URL has the same host. The rest of the URL may
 * contain secrets.
 */
export function nameOf(urls: readonly string[], n: number): string {
  const hosts = urls.map((url) => new URL(url).host);
  const before = hosts.slice(0, n).filter((host) => host === hosts[n]).length;
  return before === 0 ? hosts[n]! : `${hosts[n]!}#${before + 1}`;
}
