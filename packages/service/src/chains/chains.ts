/** Manages the chains of this process: follows and stops them, and provides their calls. */
import type { AddedUrl, FamilyChains } from './familyChains.ts';
import type { ChainDependencies, FollowedChain } from './followedChain.ts';
import { createChainSharing } from './sharing.ts';

export interface Chains<Opened = unknown> {
  readonly all: readonly FollowedChain[];
  /** The families, with the chains that are followed. */
  readonly families: Opened;
  /** URLs of the configured nodes by chain. */
  readonly configured: ReadonlyMap<string, readonly string[]>;
  /** Returns a chain; undefined if this process does not follow it. */
  get(chain: string): FollowedChain | undefined;
  /** Returns why some chains can't be read yet; undefined unless their rules are being loaded. */
  whyUnprepared(): string | undefined;
  /**
   * Follows exactly the configured chains and those of these nodes from now on, once earlier calls
   * have finished. Chains with unchanged nodes are not interrupted.
   */
  follow(added: readonly AddedUrl[]): Promise<void>;
  /** Resolves when the calls of `follow` so far have finished. */
  settled(): Promise<void>;
  /** Loads the rules, and then reads this process's share of the chains. */
  start(): void;
  stop(): Promise<void>;
}

/** @param open opens the families, which follow no chains yet */
export function createChains<Opened extends Readonly<Record<string, { chains: FamilyChains }>>>(
  given: Omit<ChainDependencies, 'isOwn'>,
  open: (dependencies: ChainDependencies) => Opened,
): Chains<Opened> {
  const { store, log, holder } = given;
  const opened = open({ ...given, isOwn: (chain) => sharing.isOwn(chain) });
  const families = Object.values(opened).map(({ chains }) => chains);
  const listAll = (): FollowedChain[] => families.flatMap((family) => family.list());
  const sharing = createChainSharing({
    id: holder.id,
    store,
    log,
    listReadable: () => families.flatMap((family) => family.listReadable()),
    onChange() {
      for (const chain of listAll()) {
        if (sharing.isOwn(chain.id) !== (chain.leaseState === 'holder')) chain.check();
      }
    },
  });
  let isStarted = false;
  let following = Promise.resolve();

  return {
    get all() {
      return listAll();
    },
    families: opened,
    configured: new Map(families.flatMap(({ configured }) => [...configured])),
    get(chain) {
      for (const family of families) {
        const followed = family.get(chain);
        if (followed !== undefined) return followed;
      }
      return undefined;
    },
    whyUnprepared: () =>
      isStarted && families.some((family) => !family.isPrepared())
        ? 'the rules and addresses of the streams are being loaded'
        : undefined,
    follow(added) {
      const done = following.then(async () => {
        await Promise.all(families.map((family) => family.follow(added)));
        sharing.look();
      });
      following = done.catch(() => {});
      return done;
    },
    settled: () => following,
    start() {
      isStarted = true;
      for (const family of families) family.start(sharing.look);
      sharing.start();
    },
    async stop() {
      await following;
      await sharing.stop();
      await Promise.all(families.map((family) => family.stop()));
    },
  };
}
