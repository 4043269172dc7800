/**
 * The secrets of streams: each has one of its own from the beginning, which signs its
 * `webhook-signature`. They lie sealed in the ledger and are opened where they are used.
 */
import { randomBytes } from 'node:crypto';
import type { StreamSecret } from '@sluice/kit/contract';
import type { SealedSecret } from '../store/access/contract.ts';
import type { Store } from '../store/store.ts';
import type { Vault } from './vault.ts';

export interface StreamSecrets {
  /** A secret for this stream, to be stored with it. */
  create(streamId: string): { secret: string; sealedSecret: string };
  /** Those that sign now; empty when the stream is unknown. */
  list(streamId: string): Promise<string[]>;
  /** Of these, the ones that sign at this time, opened; the newest first. */
  open(streamId: string, secrets: readonly SealedSecret[], at: number): string[];
  /** Undefined when the stream is unknown. */
  read(streamId: string): Promise<StreamSecret | undefined>;
  /** For the key that asks. The old ones go on for `overlapMs`; undefined when the stream is unknown. */
  rotate(
    streamId: string,
    asked: { overlapMs: number; keyId: string },
  ): Promise<StreamSecret | undefined>;
}

const SECRET_BYTES = 32;
/** A rotation beyond these ends the oldest one early. */
const MOST_SECRETS = 5;
/** Opened ones that are held, so that a delivery costs no decryption. */
const MOST_OPENED = 10_000;

const purposeOf = (streamId: string): string => `stream ${streamId}`;

export function createStreamSecrets(store: Store, vault: Vault): StreamSecrets {
  const opened = new Map<string, string>();
  const openOne = (streamId: string, sealed: string): string => {
    const place = `${streamId} ${sealed}`;
    let secret = opened.get(place);
    if (secret === undefined) {
      secret = vault.open(sealed, purposeOf(streamId));
      if (opened.size >= MOST_OPENED) opened.clear();
      opened.set(place, secret);
    }
    return secret;
  };

  const create = (streamId: string): { secret: string; sealedSecret: string } => {
    const secret = `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
    return { secret, sealedSecret: vault.seal(secret, purposeOf(streamId)) };
  };

  const toAnswer = (
    streamId: string,
    secrets: readonly SealedSecret[],
    now: number,
  ): StreamSecret | undefined => {
    const [current, ...older] = secrets;
    if (current === undefined) return undefined;
    return {
      streamId,
      secret: openOne(streamId, current.sealed),
      createdAt: current.createdAt,
      previous: older.flatMap(({ sealed, endsAt }) =>
        endsAt !== null && endsAt > now ? [{ secret: openOne(streamId, sealed), endsAt }] : [],
      ),
    };
  };

  const open = (streamId: string, secrets: readonly SealedSecret[], at: number): string[] =>
    secrets
      .filter(({ endsAt }) => endsAt === null || endsAt > at)
      .map(({ sealed }) => openOne(streamId, sealed));

  return {
    create,
    open,
    async list(streamId) {
      const secrets = (await store.readStreamSecrets(streamId)) ?? [];
      return open(streamId, secrets, await store.readLedgerTime());
    },

    async read(streamId) {
      const secrets = await store.readStreamSecrets(streamId);
      return secrets && toAnswer(streamId, secrets, await store.readLedgerTime());
    },

    async rotate(streamId, { overlapMs, keyId }) {
      const note = { kind: 'secret-rotated', keyId } as const;
      for (;;) {
        const before = await store.readStreamSecrets(streamId);
        if (before === undefined) return undefined;
        const now = await store.readLedgerTime();
        const older = before
          .map((each) => ({ ...each, endsAt: Math.min(each.endsAt ?? Infinity, now + overlapMs) }))
          .filter(({ endsAt }) => endsAt > now);
        const sealed = create(streamId).sealedSecret;
        const after = [{ sealed, createdAt: now, endsAt: null }, ...older].slice(0, MOST_SECRETS);
        // Another rotation may have come between: then this one goes by what that one left.
        if (await store.replaceStreamSecrets(streamId, before, after, note)) {
          return toAnswer(streamId, after, now);
        }
      }
    },
  };
}

/**
 * Seals anew what an older master key sealed, and answers with how many streams that were.
 * @throws CallerError when something was sealed with a key that is not here.
 */
export async function resealStreamSecrets(store: Store, vault: Vault): Promise<number> {
  let count = 0;
  let after: string | undefined;
  do {
    const page = await store.listStreamSecrets(after);
    for (const { streamId, secrets } of page.rows) {
      if (!secrets.some(({ sealed }) => vault.isOld(sealed))) continue;
      const purpose = purposeOf(streamId);
      const again = secrets.map((each) => ({
        ...each,
        sealed: vault.seal(vault.open(each.sealed, purpose), purpose),
      }));
      // One that was rotated meanwhile is sealed with a current key already.
      if (await store.replaceStreamSecrets(streamId, secrets, again)) count++;
    }
    after = page.next;
  } while (after !== undefined);
  return count;
}
