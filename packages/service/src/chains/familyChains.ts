/**
 * Manages the followed chains of one family. Nodes, and chains that only added nodes serve, can
 * change while the service runs.
 */
import { type ChainFamily, familyOf } from '@sluice/kit/contract';
import type { AddedNode } from '../config/nodes.ts';
import type { FollowedChain } from './followedChain.ts';
import type { RuleKeeper } from './ruleKeeper.ts';

export interface FamilyChains<Followed extends FollowedChain = FollowedChain> {
  /** URLs of the configured nodes by chain. */
  readonly configured: ReadonlyMap<string, readonly string[]>;
  get(chain: string): Followed | undefined;
  list(): Followed[];
  /** Returns whether the rules are loaded, or no chain is followed. */
  isPrepared(): boolean;
  /** Returns the ids of the followed chains; none before the rules are loaded. */
  listReadable(): string[];
  /** @param onLoaded called when the rules have been loaded for the first time */
  start(onLoaded: () => void): void;
  /**
   * Follows the configured chains, and those of the added nodes, from now on. Chains that were
   * removed or have new nodes finish their current work and stop first; other chains are not
   * interrupted.
   */
  follow(added: readonly AddedUrl[]): Promise<void>;
  stop(): Promise<void>;
}

/** A URL that was added while the service ran. It is a node if it has a chain. */
export type AddedUrl = AddedNode & { readonly chain: string | null };

/** The settings of one chain that all families have. */
interface AnyChainConfig {
  readonly urls: readonly string[];
  readonly addedNodes?: readonly AddedNode[] | undefined;
}

/** How a family's chains are configured. */
export interface ChainSettings<Config extends AnyChainConfig> {
  readonly family: ChainFamily;
  readonly configs: readonly Config[];
  idOf(config: Config): string;
  /** Returns the default settings, without nodes, of a chain whose first node has this URL. */
  startConfig(chain: string, url: string): Config;
}

/**
 * Returns whether an added URL is also configured. Added URLs are normalized; configured ones are
 * not.
 */
export const isConfigured = (configured: readonly string[], added: string): boolean =>
  configured.some((given) => {
    const url = new URL(given);
    url.hash = '';
    return url.href === added;
  });

/**
 * Returns the configured chains with their added nodes, and the chains that only added nodes serve.
 * An added node whose URL is also configured is left out.
 */
export function withAddedNodes<Config extends AnyChainConfig>(
  { family, configs, idOf, startConfig }: ChainSettings<Config>,
  added: readonly AddedUrl[],
): Config[] {
  const nodesOf = Map.groupBy(added, ({ chain }) => chain);
  const take = (chain: string, configured: readonly string[]): AddedNode[] => {
    const nodes = nodesOf.get(chain) ?? [];
    nodesOf.delete(chain);
    return nodes
      .filter(({ url }) => !isConfigured(configured, url))
      .map(({ id, url }) => ({ id, url }));
  };
  const known = configs.map((config) => ({
    ...config,
    addedNodes: take(idOf(config), config.urls),
  }));
  const others: Config[] = [];
  for (const chain of nodesOf.keys()) {
    if (chain === null || familyOf(chain) !== family) continue;
    const addedNodes = take(chain, []);
    others.push({ ...startConfig(chain, addedNodes[0]!.url), addedNodes });
  }
  return [...known, ...others];
}

export function createFamilyChains<Config extends AnyChainConfig, Followed extends FollowedChain>({
  settings,
  rules,
  open,
}: {
  settings: ChainSettings<Config>;
  rules: RuleKeeper;
  open(config: Config): Followed;
}): FamilyChains<Followed> {
  let chains = new Map<string, { settings: string; followed: Followed }>();
  let onLoaded: (() => void) | undefined;
  let areRulesStarted = false;
  let isStopped = false;

  const list = (): Followed[] => [...chains.values()].map(({ followed }) => followed);
  const startRules = (): void => {
    if (areRulesStarted || onLoaded === undefined || chains.size === 0) return;
    areRulesStarted = true;
    rules.start(onLoaded);
  };

  return {
    configured: new Map(settings.configs.map((config) => [settings.idOf(config), config.urls])),
    get: (chain) => chains.get(chain)?.followed,
    list,
    isPrepared: () => chains.size === 0 || rules.isLoaded(),
    listReadable: () => (rules.isLoaded() ? [...chains.keys()] : []),
    start(callBack) {
      onLoaded = callBack;
      startRules();
      for (const followed of list()) followed.start();
    },
    async follow(added) {
      const before = new Map(chains);
      const next: typeof chains = new Map();
      for (const config of withAddedNodes(settings, added)) {
        const wanted = JSON.stringify(config);
        const kept = [...before.values()].find((each) => each.settings === wanted);
        const one = kept ?? { settings: wanted, followed: open(config) };
        next.set(one.followed.id, one);
      }
      // While a chain is being stopped, its matches still look up the chain in `chains`.
      chains = new Map([...before, ...next]);
      startRules();
      await Promise.all(
        [...before].map(async ([chain, { followed }]) => {
          if (next.get(chain)?.followed !== followed) await followed.stop();
        }),
      );
      chains = next;
      if (onLoaded === undefined || isStopped) return;
      for (const [chain, { followed }] of next) {
        if (before.get(chain)?.followed !== followed) followed.start();
      }
    },
    async stop() {
      isStopped = true;
      rules.stop();
      await Promise.all(list().map((followed) => followed.stop()));
    },
  };
}
