/** Manages the followed chains of one family. Their list can change while the service runs. */
import type { FollowedChain } from './followedChain.ts';
import type { RuleKeeper } from './ruleKeeper.ts';

export interface Family<Config, Followed extends FollowedChain> {
  get(chain: string): Followed | undefined;
  list(): Followed[];
  /** Returns whether the rules are loaded, or no chain is followed. */
  isPrepared(): boolean;
  /** Returns the ids of the followed chains; none before the rules are loaded. */
  listReadable(): string[];
  /** @param onLoaded called when the rules have been loaded for the first time */
  start(onLoaded: () => void): void;
  /**
   * Follows exactly these chains from now on. Chains that were removed or have new settings finish
   * their current work and stop first; other chains are not interrupted.
   */
  follow(configs: readonly Config[]): Promise<void>;
  stop(): Promise<void>;
}

export function createFamily<Config, Followed extends FollowedChain>({
  rules,
  open,
}: {
  rules: RuleKeeper;
  open(config: Config): Followed;
}): Family<Config, Followed> {
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
    get: (chain) => chains.get(chain)?.followed,
    list,
    isPrepared: () => chains.size === 0 || rules.isLoaded(),
    listReadable: () => (rules.isLoaded() ? [...chains.keys()] : []),
    start(callBack) {
      onLoaded = callBack;
      startRules();
      for (const followed of list()) followed.start();
    },
    async follow(configs) {
      const before = new Map(chains);
      const next: typeof chains = new Map();
      for (const config of configs) {
        const settings = JSON.stringify(config);
        const kept = [...before.values()].find((each) => each.settings === settings);
        const one = kept ?? { settings, followed: open(config) };
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
