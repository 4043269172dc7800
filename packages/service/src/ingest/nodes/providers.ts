/**
 * Manages the nodes of one chain: which node is the primary, which one is queried next after a
 * failure, and which are excluded. Another node replaces the primary only if it is clearly better,
 * or if the primary fails or is outvoted.
 */
import type { ChainAgreement, ProviderHealth } from '@sluice/kit/contract';
import type { Log } from '../../base/log.ts';
import type { BlockHeader } from '../../store/blocks/contract.ts';
import { isReverted } from '../evm/provider.ts';
import { createStateLog, survey } from './survey.ts';
import type { Connect } from '../evm/rpc/rpcClient.ts';
import { type FinalityTag, SourceError } from '../source.ts';
import type { AnyProvider } from './standing.ts';

type Node = Pick<AnyProvider, 'name' | 'identify' | 'forgetIdentity' | 'exclude'>;

/**
 * Checks which chain the nodes serve, by the hash of block 0 or the Aptos chain id. Nodes of a
 * different chain are excluded.
 */
export interface Identities {
  /** Identifies the node's chain, if unknown. Excludes a node of another chain, and throws. */
  admit(provider: Node): Promise<void>;
  /**
   * Determines again which chain the nodes serve. Returns `expected` if a node serves that chain,
   * or else the hash of a chain that a node serves. Without `expected`, all responding nodes must
   * agree.
   *
   * @param ask like {@link Providers.ask}
   */
  readGenesisHash(
    ask: (read: (provider: Node) => Promise<string | undefined>) => Promise<string | undefined>,
    expected: string | undefined,
  ): Promise<string>;
}

/** @param how.mark name of the value that identifies a chain, for messages */
function createIdentities(
  { chain, flag, mark }: { chain: string; flag: string; mark: string },
  all: readonly Node[],
): Identities {
  let genesisHash: string | undefined;

  /**
   * Returns the genesis hash of a chain that is read for the first time. Throws if no node provides
   * one, or if the responding nodes have different ones.
   */
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
      throw failed?.reason ?? new SourceError('missing', `${all[0]!.name}: ${mark} is missing`);
    }
    const other = others.find(({ hash }) => hash !== one.hash);
    if (other !== undefined) {
      throw new SourceError(
        'wrong-chain',
        `${mark} is ${one.hash} on ${one.name} but ${other.hash} on ${other.name}: they serve different chains with the ID ${chain}. Remove the wrong ${flag}`,
      );
    }
    return one.hash;
  };

  return {
    async admit(provider) {
      const identity = await provider.identify();
      if (genesisHash === undefined || identity.genesisHash === undefined) return;
      if (identity.genesisHash === genesisHash) return;
      const why = `${provider.name}: its ${mark} is ${identity.genesisHash}, but ${genesisHash} on the others: it serves a different chain with the ID ${chain}. Correct its ${flag}`;
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
        // A node that no longer has block 0 is accepted because of its chain id.
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
  /** Returns the hash of block 0, or the Aptos chain id; see {@link Source.readGenesisHash}. */
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
  /**
   * Returns the lowest finalized block that the available nodes report, because confirming too
   * early can't be undone; undefined if no node reports one.
   */
  readFinalized(): Promise<BlockHeader | undefined>;
  /** Reads the tagged block from the first provider that has one, at the lowest priority. */
  readTagged(tag: FinalityTag): Promise<BlockHeader | undefined>;
  /**
   * Tries the providers by score and returns the first result. Providers that know the block
   * `prefer.hash` come first. Rethrows reverts and disagreements immediately. If no provider has a
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
  health(): ProviderHealth[];
  agreement(): ChainAgreement | null;
  close(): Promise<void>;
}

/** The nodes of a chain that were added through the API, not in the configuration. */
export interface AddedNodes {
  nodes: readonly { id: string; url: string }[];
  connect: Connect;
}

/** Another node replaces the primary if its score is below this fraction of the primary's score. */
const CLEARLY_BETTER = 0.5;
/**
 * Number of tries per node if data is missing. Behind a load balancer, the next try may reach a
 * node that has the data.
 */
const ROUNDS = 2;
const NODES_REMEMBERED = 512;

async function readLowestFinalized<Provider extends AnyProvider>(
  providers: readonly Provider[],
  admit: (provider: Provider) => Promise<void>,
): Promise<BlockHeader | undefined> {
  const results = await Promise.allSettled(
    providers.map(async (each) => {
      await admit(each);
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
  flag,
  identity: mark,
  log,
  create,
}: {
  chain: string;
  /** URLs of the configured nodes. */
  urls: readonly string[];
  /** Additional nodes, which are listed after the configured ones. Default: none. */
  added?: AddedNodes | undefined;
  /** The command-line flag that configures the nodes of this chain. */
  flag: string;
  /** Name of the value that identifies a chain, for messages. */
  identity: 'block 0' | 'chain ID';
  log: Log;
  create: CreateNode<Provider>;
}): Providers<Provider> {
  const all = createNodes(urls, added, create);
  const agreement: Agreement = createAgreement(all, flag);
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
          if (isReverted(error) || error.kind === 'disagreement') throw error;
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

    readFinalized: () => readLowestFinalized(ranked(), identities.admit),

    readTagged: (tag) => ask((provider) => provider.readTagged(tag, 'aside')),

    survey: (everyMs) => survey(all, identities.admit, recordStates, everyMs),
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

/**
 * Prevents a single node from deciding which block is at a height, by checking each new block
 * against a witness. If the witness has a different block, the majority of the nodes with a vote
 * determines the block. Without a majority, no block is accepted until the nodes agree.
 */
export interface Agreement {
  /**
   * Returns false if the other nodes outvote the provider of this header.
   *
   * @param isHead whether the block is the newest; other nodes then have up to 1 s to receive it
   * @throws SourceError `disagreement` if no block has the majority
   */
  check(header: BlockHeader, giver: AnyProvider, isHead: boolean): Promise<boolean>;
  /**
   * Returns the result of the check of the newest block, or of a later check that ended in a
   * disagreement; null until there is one.
   */
  latest(): ChainAgreement | null;
}

/** Maximum wait for other nodes to have the block; the usual wait is a fraction of this. */
const WAIT_MS = 1_000;
const RETRY_QUERY_MS = 100;
const COUNTED = 1_024;

interface BlockVote {
  provider: AnyProvider;
  hash: string;
}

/** @param flag the command-line flag that configures the nodes */
function createAgreement(providers: readonly AnyProvider[], flag: string): Agreement {
  /**
   * Hash of the last accepted head, which is not checked again. An older head is checked again,
   * because it may have left the chain.
   */
  let settledHead = '';
  let latest: ChainAgreement | null = null;
  /** Disagreements that were counted, so that each counts once; oldest first. */
  const counted = new Set<string>();

  /** Returns a provider's vote at this height; undefined if it has no usable block. */
  const ask = async (provider: AnyProvider, number: number): Promise<BlockVote | undefined> => {
    try {
      const header = await provider.readHeaderAt(number);
      return header && { provider, hash: header.hash };
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      if (error.kind === 'inconsistent') provider.fault('inconsistent');
      return undefined;
    }
  };

  const otherVoters = (giver: AnyProvider): AnyProvider[] =>
    providers
      .filter((each) => each !== giver && each.hasVote)
      .toSorted((a, b) => a.score - b.score);

  /** Returns the first vote of another node, because one node that agrees is enough. */
  const readWitness = async (
    header: BlockHeader,
    giver: AnyProvider,
  ): Promise<BlockVote | undefined> => {
    for (const provider of otherVoters(giver)) {
      const opinion = await ask(provider, header.number);
      if (opinion !== undefined) return opinion;
    }
    return undefined;
  };

  const count = (number: number, { provider, hash }: BlockVote, outvoted: boolean): void => {
    const key = `${provider.name} ${number} ${hash} ${outvoted}`;
    if (counted.has(key)) return;
    counted.add(key);
    if (counted.size > COUNTED) counted.delete(counted.values().next().value!);
    provider.disagreed(outvoted);
  };

  /** Returns the votes of all nodes, and the hash that more than half of them share, if any. */
  const vote = async (
    header: BlockHeader,
    giver: AnyProvider,
  ): Promise<{ winner: string | undefined; opinions: BlockVote[] }> => {
    const asked = await Promise.all(otherVoters(giver).map((each) => ask(each, header.number)));
    const opinions = [
      // The provider may have lost its vote, for example because it was caught lying.
      ...(giver.hasVote ? [{ provider: giver, hash: header.hash }] : []),
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
        if (otherVoters(giver).length === 0) break;
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
        await new Promise((resolve) => setTimeout(resolve, RETRY_QUERY_MS));
      }
      if (isHead) {
        settledHead = header.hash;
        latest = { blockNumber: header.number, state };
      }
      return true;
    },
  };
}

function describe(number: number, opinions: readonly BlockVote[], flag: string): string {
  const sides = opinions.map(({ provider, hash }) => `${provider.name} has ${hash}`).join(', ');
  return `the providers disagree about block ${number} (${sides}): no block is accepted until they agree. Add a third provider with another ${flag} to break the tie`;
}
