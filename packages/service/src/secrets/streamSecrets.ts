/** Manages the secrets of each stream for `webhook-signature`. The ledger stores them encrypted. */
import { randomBytes } from 'node:crypto';
import type { StreamSecret, StreamSecretTimes } from '@sluice/kit/contract';
import type { SealedSecret } from '../store/tables/streams.ts';
import type { Store } from '../store/store.ts';
import type { Vault } from './vault.ts';

export interface StreamSecrets {
  /**
   * Generates a secret for this stream and returns it with its ciphertext, which the caller stores.
   */
  create(streamId: string): { secret: string; sealedSecret: string };
  /** Returns the secrets that currently sign, or an empty list if the stream is unknown. */
  list(streamId: string): Promise<string[]>;
  /** Decrypts the secrets that are valid for signing at the time `at`, newest first. */
  open(streamId: string, secrets: readonly SealedSecret[], at: number): string[];
  /** Returns the current and the previous secrets; undefined if the stream is unknown. */
  read(streamId: string): Promise<StreamSecret | undefined>;
  /**
   * Rotates the secret on behalf of the API key; returns undefined if the stream is unknown.
   * Previous secrets stay valid for at most `overlapMs`.
   */
  rotate(
    streamId: string,
    asked: { overlapMs: number; keyId: string },
  ): Promise<StreamSecret | undefined>;
  /**
   * Returns when the current and previous secrets were created, and when the previous ones expire;
   * undefined if the stream is unknown.
   */
  readTimes(streamId: string): Promise<StreamSecretTimes | undefined>;
  /**
   * Ends all previous secrets on behalf of the API key; returns undefined if the stream is unknown.
   * Does nothing if there are no previous secrets.
   */
  endOverlap(streamId: string, keyId: string): Promise<StreamSecretTimes | undefined>;
}

const SECRET_BYTES = 32;
/** Maximum number of secrets of a stream. A further rotation ends the oldest secret early. */
const MAX_SECRETS = 5;
/** Maximum number of decrypted secrets to cache, so that most deliveries need no decryption. */
const MAX_OPENED = 10_000;

const purposeOf = (streamId: string): string => `stream ${streamId}`;

export function createStreamSecrets(store: Store, vault: Vault): StreamSecrets {
  const opened = new Map<string, string>();
  const openOne = (streamId: string, sealed: string): string => {
    const place = `${streamId} ${sealed}`;
    let secret = opened.get(place);
    if (secret === undefined) {
      secret = vault.open(sealed, purposeOf(streamId));
      if (opened.size >= MAX_OPENED) opened.clear();
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

  const toTimes = (
    streamId: string,
    [current, ...older]: readonly SealedSecret[],
    now: number,
  ): StreamSecretTimes | undefined =>
    current && {
      streamId,
      createdAt: current.createdAt,
      previous: older.flatMap(({ createdAt, endsAt }) =>
        endsAt !== null && endsAt > now ? [{ createdAt, endsAt }] : [],
      ),
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
        const after = [{ sealed, createdAt: now, endsAt: null }, ...older].slice(0, MAX_SECRETS);
        // `replaceStreamSecrets` returns false if the secrets changed meanwhile; the loop then
        // rotates the new ones.
        if (await store.replaceStreamSecrets(streamId, before, after, note)) {
          return toAnswer(streamId, after, now);
        }
      }
    },

    async readTimes(streamId) {
      const secrets = await store.readStreamSecrets(streamId);
      return secrets && toTimes(streamId, secrets, await store.readLedgerTime());
    },

    async endOverlap(streamId, keyId) {
      for (;;) {
        const before = await store.readStreamSecrets(streamId);
        if (before === undefined) return undefined;
        const times = toTimes(streamId, before, await store.readLedgerTime());
        if (times === undefined || times.previous.length === 0) return times;
        const note = { kind: 'secret-overlap-ended', keyId } as const;
        const after = before.slice(0, 1);
        // `replaceStreamSecrets` returns false if the secrets changed meanwhile; the loop then also
        // ends the overlap of a new rotation.
        if (await store.replaceStreamSecrets(streamId, before, after, note)) {
          return { ...times, previous: [] };
        }
      }
    },
  };
}

/**
 * Re-encrypts secrets that an older master key encrypted, and returns the number of changed
 * streams.
 * @throws CallerError if the key of a secret was not provided
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
      // `replaceStreamSecrets` returns false if the secrets changed meanwhile; the next start then
      // re-encrypts them.
      if (await store.replaceStreamSecrets(streamId, secrets, again)) count++;
    }
    after = page.next;
  } while (after !== undefined);
  return count;
}
