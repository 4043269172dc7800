/**
 * Tests API keys, ended sessions, the audit log and the secrets of streams on each engine. Run by
 * `sqlite.test.ts` and `postgres.suite.ts`.
 */
import { randomUUID } from 'node:crypto';
import { hashAuditRecord } from '@sluice/kit/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEFAULT_DELIVERY, DEFAULT_OPTIONS } from '../../src/store/streams/contract.ts';
import type { NewApiKey } from '../../src/store/access/contract.ts';
import type { SealedSecret } from '../../src/store/tables/streams.ts';
import type { Store } from '../../src/store/store.ts';
import { plain } from './plain.ts';

export function testAccess(open: () => Promise<Store>): void {
  let store: Store;
  beforeAll(async () => {
    store = await open();
  });
  afterAll(() => store.close());

  const newKey = (name: string): NewApiKey => ({
    id: randomUUID(),
    name,
    hash: 'h'.repeat(64),
    scopes: ['streams:read', 'replay'],
    cidrs: ['10.0.0.0/8'],
    expiresAt: 4_000_000_000_000,
  });
  const createStream = (sealedSecret?: string) =>
    store.createStream(
      plain({
        family: 'evm',
        tag: '',
        description: '',
        webhookUrl: 'http://127.0.0.1:1/',
        chainIds: ['0x1'],
        options: DEFAULT_OPTIONS,
        ...DEFAULT_DELIVERY,
      }),
      sealedSecret === undefined ? {} : { sealedSecret },
    );

  describe('API keys', () => {
    test('the first key is created only once, despite concurrent requests', async () => {
      const asked = ['a', 'b', 'c', 'd'].map((name) => store.createFirstApiKey(newKey(name)));
      const made = (await Promise.all(asked)).filter((key) => key !== undefined);
      // Other tests may already have added keys to this ledger.
      expect(made.length).toBeLessThanOrEqual(1);
      expect((await store.listApiKeys()).length).toBeGreaterThanOrEqual(1);
      expect(await store.createFirstApiKey(newKey('late'))).toBeUndefined();
    });

    test('record their creation, use and revocation', async () => {
      const key = newKey('mine');
      const before = await store.readLedgerTime();
      const made = await store.createApiKey(key);
      expect(made).toEqual({
        ...key,
        createdAt: expect.any(Number) as number,
        lastUsedAt: null,
        revokedAt: null,
      });
      expect(made.createdAt).toBeGreaterThanOrEqual(before);
      const read = async () => (await store.listApiKeys()).find(({ id }) => id === key.id);
      expect(await read()).toEqual(made);

      await store.recordApiKeyUse([key.id]);
      await store.recordApiKeyUse([]);
      expect((await read())?.lastUsedAt).toBeGreaterThanOrEqual(before);

      const revoked = await store.revokeApiKey(key.id);
      expect(revoked?.revokedAt).toBeGreaterThanOrEqual(before);
      expect(await store.revokeApiKey(key.id)).toEqual(revoked);
      expect(await read()).toEqual(revoked);
      expect(await store.revokeApiKey('unknown')).toBeUndefined();
    });
  });

  describe('ended sessions', () => {
    test('are listed until a day after their expiry', async () => {
      const now = await store.readLedgerTime();
      const all: string[] = [randomUUID(), randomUUID(), randomUUID()];
      const [good = '', late = '', over = ''] = all;
      await store.endSession({ id: over, expiresAt: now - 25 * 3_600_000 });
      await store.endSession({ id: late, expiresAt: now - 23 * 3_600_000 });
      await store.endSession({ id: good, expiresAt: now + 3_600_000 });
      await store.endSession({ id: good, expiresAt: now + 3_600_000 });
      const listed = await store.listEndedSessions();
      expect(listed.filter((id) => all.includes(id)).toSorted()).toEqual([good, late].toSorted());
    });
  });

  describe('the audit log', () => {
    const readAll = async () => {
      const all = [];
      let before: number | undefined;
      do {
        const page = await store.listAudit({ limit: 7, before });
        all.push(...page.rows);
        before = page.next;
      } while (before !== undefined);
      return all;
    };

    test('is one chain without gaps, even with concurrent writers', async () => {
      const writers = Array.from({ length: 20 }, (_, n) =>
        store.appendAudit({
          action: 'revokeApiKey',
          keyId: `key ${n}`,
          sessionName: n % 2 === 0 ? '' : `Zoë ${n}`,
          address: '10.0.0.1',
          target: String(n),
        }),
      );
      await Promise.all(writers);
      const all = (await readAll()).toReversed();
      expect(all.map(({ seq }) => seq)).toEqual(all.map((_, n) => n + 1));
      expect(all.map(({ previousHash }) => previousHash)).toEqual(
        ['', ...all.map(({ hash }) => hash)].slice(0, -1),
      );
      for (const record of all) expect(hashAuditRecord(record)).toBe(record.hash);
      expect(all.map(({ sessionName }) => sessionName)).toContain('Zoë 19');
      expect(all.filter(({ action }) => action === 'revokeApiKey').length).toBe(20);
    });

    test('reveals any modification', async () => {
      const [newest] = await readAll();
      for (const change of [
        { seq: 99 },
        { at: newest!.at + 1 },
        { action: 'x' },
        { keyId: '' },
        { sessionName: newest!.sessionName === '' ? 'Zoë' : '' },
        { address: '10.0.0.2' },
        { target: 'another' },
        { previousHash: '' },
      ]) {
        expect(hashAuditRecord({ ...newest!, ...change })).not.toBe(newest!.hash);
      }
    });
  });

  describe('secrets of streams', () => {
    test('are created with the stream, and replaced unless they changed in the meantime', async () => {
      const { id } = await createStream('sealed');
      const before = (await store.readStreamSecrets(id))!;
      expect(before).toEqual([
        { sealed: 'sealed', createdAt: expect.any(Number) as number, endsAt: null },
      ]);
      const after: SealedSecret[] = [
        { sealed: 'newer', createdAt: 5, endsAt: null },
        { ...before[0]!, endsAt: 6 },
      ];
      expect(await store.replaceStreamSecrets(id, before, after)).toBe(true);
      expect(await store.readStreamSecrets(id)).toEqual(after);
      expect(await store.replaceStreamSecrets(id, before, [])).toBe(false);
      expect(await store.readStreamSecrets(id)).toEqual(after);
    });

    test('are listed by stream, and deleted with it', async () => {
      const { id } = await createStream();
      const listed = async () => {
        const all: string[] = [];
        let after: string | undefined;
        do {
          const page = await store.listStreamSecrets(after);
          all.push(...page.rows.map(({ streamId }) => streamId));
          after = page.next;
        } while (after !== undefined);
        return all;
      };
      expect(await listed()).toContain(id);
      expect(await store.readStreamSecrets(id)).toEqual([]);
      await store.deleteStream(id);
      expect(await listed()).not.toContain(id);
      expect(await store.readStreamSecrets(id)).toBeUndefined();
      expect(await store.readStreamSecrets(randomUUID())).toBeUndefined();
    });
  });
}
