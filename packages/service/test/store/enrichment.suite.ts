/** Tests matches that wait for enrichment, and stored tokens. */

import { movedBy } from '../../src/store/live/movedBy.test-only.ts';
import { describe, expect, test } from 'vitest';
import type { NewMatch } from '../../src/store/blocks/contract.ts';
import type { Store } from '../../src/store/store.ts';
import type { Token } from '../../src/store/enrichment/contract.ts';
import { ENVELOPE_BYTES } from '../../src/store/blocks/body.ts';
import { newMatch } from './newMatch.ts';
import { type StoreTools, newChain, draft, address } from './storeTools.ts';

export function testEnrichment(tools: StoreTools): void {
  const { startChain, deliveriesOf, claimOf } = tools;

  describe('enrichment', () => {
    const waiting = (streamId: string): NewMatch => ({
      ...newMatch(streamId),
      enrichment: '{"plan":1}',
      bodyTail: ',"logs":["unfinished"]}',
    });
    const whole = `,"logs":["${'€'.repeat(100)}"]}`;

    const listAll = async (chain: string, more: Partial<Parameters<Store['listEnriching']>[0]>) =>
      tools.store.listEnriching({
        chain,
        limit: 100,
        perStream: 10,
        notStreams: [],
        notMatches: [],
        ...more,
      });

    test('delays deliveries until their body is complete, and completes it once', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain]));
      const block = chain.next();
      const committed = await chain.commit(block, [waiting(id)]);
      expect(committed).toMatchObject({ deliveries: [{ state: 'enriching', streamId: id }] });
      expect(await claimOf(id)).toEqual([]);
      for (let n = 0; n < 2; n++) await chain.commit(chain.next(), []);
      // The confirmed delivery also waits, and the queue counts both deliveries.
      expect((await deliveriesOf(id)).map(({ state }) => state)).toEqual([
        'enriching',
        'enriching',
      ]);
      const stats = await tools.store.readStreamStats();
      expect(stats.find(({ streamId }) => streamId === id)?.queue).toBe(2);

      const [match] = await listAll(chain.chain, {});
      expect(match).toMatchObject({
        streamId: id,
        block: { number: block.number, hash: block.hash },
        bodyTail: ',"logs":["unfinished"]}',
        enrichment: '{"plan":1}',
      });
      await tools.store.completeEnrichments({
        ...chain.held,
        completed: [{ matchId: match!.id, bodyTail: whole, about: 'Transfer 5 A' }],
      });
      const due = async () =>
        (await deliveriesOf(id))
          .map(({ phase, state, about }) => [phase, state, about].join())
          .toSorted();
      const whole5 = ['confirmed,pending,Transfer 5 A', 'unconfirmed,pending,Transfer 5 A'];
      expect(await due()).toEqual(whole5);
      expect(await listAll(chain.chain, {})).toEqual([]);
      // A second result for the same match has no effect.
      const again = {
        ...chain.held,
        completed: [{ matchId: match!.id, bodyTail: ',"logs":["other"]}', about: 'other' }],
      };
      await tools.store.completeEnrichments(again);
      expect(await due()).toEqual(whole5);
      const claims = await claimOf(id);
      expect(claims).toHaveLength(2);
      for (const { body, bodyBytes } of claims) {
        expect(Buffer.from(body).toString()).toContain(whole);
        // `bodyBytes` excludes the parts that are not stored: the beginning of the body and the
        // value of `retries`.
        expect(bodyBytes).toBeGreaterThan(body.length - ENVELOPE_BYTES);
        expect(bodyBytes).toBeLessThanOrEqual(body.length);
      }
    });

    test('is listed oldest first, fairly, without excluded streams and matches', async () => {
      const chain = await startChain();
      const other = await startChain();
      const busy = await tools.store.createStream(draft([chain.chain]));
      const quiet = await tools.store.createStream(draft([chain.chain, other.chain]));
      for (let n = 0; n < 5; n++) await chain.commit(chain.next(), [waiting(busy.id)], 1000);
      await chain.commit(chain.next(), [waiting(quiet.id), waiting(busy.id)], 1000);
      await other.commit(other.next(), [waiting(quiet.id)], 1000);
      const all = await listAll(chain.chain, {});
      expect(all).toHaveLength(7);
      expect(all.map(({ id }) => id)).toEqual(all.map(({ id }) => id).toSorted());
      const fair = await listAll(chain.chain, { perStream: 2 });
      expect(fair.map(({ streamId }) => streamId)).toEqual([busy.id, busy.id, quiet.id]);
      expect(fair[0]!.block.number).toBe(101);
      expect(await listAll(chain.chain, { limit: 1 })).toEqual([all[0]]);
      const others = await listAll(chain.chain, { notStreams: [busy.id] });
      expect(others.map(({ streamId }) => streamId)).toEqual([quiet.id]);
      const later = await listAll(chain.chain, {
        perStream: 1,
        notMatches: [all[0]!.id, all[1]!.id],
      });
      expect(later.map(({ id }) => id)).toContain(all[2]!.id);
      expect(later).toHaveLength(2);
    });

    test('stops when a block leaves the chain, and resumes when it comes back', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain], { notifyRemoved: true }));
      const before = chain.tip();
      const block = chain.next();
      await chain.commit(block, [waiting(id)]);
      const [match] = await listAll(chain.chain, {});
      // No delivery was sent, so there is no removal webhook.
      expect((await chain.rewind(before)).map(({ state }) => state)).toEqual(['cancelled']);
      expect(await listAll(chain.chain, {})).toEqual([]);
      const late = {
        ...chain.held,
        completed: [{ matchId: match!.id, bodyTail: whole, about: '' }],
      };
      await tools.store.completeEnrichments(late);
      expect((await deliveriesOf(id)).map(({ state }) => state)).toEqual(['cancelled']);
      await chain.commit(block, []);
      expect((await deliveriesOf(id)).map(({ state }) => state)).toEqual(['enriching']);
      expect(await listAll(chain.chain, {})).toHaveLength(1);
      // An empty summary keeps the earlier one.
      await tools.store.completeEnrichments(late);
      expect(await deliveriesOf(id)).toMatchObject([
        { state: 'pending', about: 'log of 0x28c6…1d60' },
      ]);
    });

    test('sets a match aside with its reason, and resumes it when it is replayed', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain], { notifyRemoved: true }));
      const before = chain.tip();
      const block = chain.next();
      await chain.commit(block, [waiting(id)]);
      const [match] = await listAll(chain.chain, {});
      const refused = { matchId: match!.id, setAside: 'the ledger rejected its body' };
      const { moved } = await movedBy(tools.store, () =>
        tools.store.completeEnrichments({ ...chain.held, completed: [refused] }),
      );
      expect(moved).toMatchObject([{ state: 'quarantined', error: refused.setAside }]);
      expect(await listAll(chain.chain, {})).toEqual([]);
      expect(await claimOf(id)).toEqual([]);
      // The confirmed delivery is also quarantined, and there is no removal webhook for unsent
      // deliveries.
      for (let n = 0; n < 2; n++) await chain.commit(chain.next(), []);
      const setAside = await deliveriesOf(id);
      expect(setAside.map(({ phase, state, error }) => [phase, state, error])).toEqual([
        ['confirmed', 'quarantined', refused.setAside],
        ['unconfirmed', 'quarantined', refused.setAside],
      ]);
      expect(await tools.store.listMatchesOf(chain.chain, block.hash)).toMatchObject([
        { isEnriching: false },
      ]);
      expect(await chain.rewind(before)).toEqual([]);
      await chain.commit(block, []);

      const [replayed, other] = setAside;
      const { after } = (await tools.store.replayDelivery(id, replayed!.id))!;
      expect(after.state).toBe('enriching');
      expect(await listAll(chain.chain, {})).toMatchObject([{ id: match!.id }]);
      await tools.store.completeEnrichments({
        ...chain.held,
        completed: [{ matchId: match!.id, bodyTail: whole, about: '' }],
      });
      expect(await tools.store.readDelivery(replayed!.id)).toMatchObject({
        state: 'pending',
        error: null,
      });
      expect((await tools.store.replayDelivery(id, other!.id))!.after.state).toBe('pending');
      expect(await claimOf(id)).toHaveLength(2);
    });

    test('counts waiting deliveries in the age of the queue', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain]));
      const before = await tools.store.readLedgerTime();
      await chain.commit(chain.next(), [waiting(id)]);
      const [delivery] = await deliveriesOf(id);
      const oldest = await tools.store.readOldestDue();
      expect(oldest).toBeLessThanOrEqual(delivery!.createdAt);
      const since = await tools.store.listEnrichingSince();
      expect(since.find((each) => each.chain === chain.chain)?.since).toBe(delivery!.createdAt);
      expect(delivery!.createdAt).toBeGreaterThanOrEqual(before);
      await tools.store.setStreamStatus(id, 'paused', '');
      const paused = await tools.store.listEnrichingSince();
      expect(paused.some((each) => each.chain === chain.chain)).toBe(false);
    });

    test('permanently skips matches without a body to send', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain]));
      const reason = 'a record is too large';
      const committed = await chain.commit(chain.next(), [newMatch(id, { setAside: reason })]);
      expect(committed).toMatchObject({ deliveries: [{ state: 'quarantined', error: reason }] });
      const [delivery] = await deliveriesOf(id);
      const { after } = (await tools.store.replayDelivery(id, delivery!.id))!;
      expect(after).toMatchObject({ state: 'quarantined', error: reason });
      expect(await tools.store.estimateReplay({ streamId: id })).toMatchObject({ deliveries: 0 });
      expect(await claimOf(id)).toEqual([]);
    });

    test('ends with its stream', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain]));
      await chain.commit(chain.next(), [waiting(id)]);
      await tools.store.deleteStream(id);
      expect(await listAll(chain.chain, {})).toEqual([]);
      expect((await deliveriesOf(id)).map(({ state }) => state)).toEqual(['cancelled']);
    });

    test('stores tokens by chain, each as last read', async () => {
      const token: Token = {
        address: address(0xc0),
        name: 'Robert\'); drop table "é" 🚀',
        symbol: '',
        decimals: 255,
        standard: 'ERC1155',
        blockNumber: 7,
      };
      const nameless: Token = { ...token, address: address(0xc1), name: '', decimals: null };
      const chain = newChain();
      const before = Date.now();
      await tools.store.saveTokens(chain, [{ ...token, name: 'Old' }, nameless]);
      await tools.store.saveTokens(chain, [token]);
      await tools.store.saveTokens(chain, []);
      const read = await tools.store.readTokens(chain, [
        token.address,
        nameless.address,
        address(0xc2),
      ]);
      expect(read.map((each) => each.token)).toHaveLength(2);
      expect(read.map((each) => each.token)).toEqual(expect.arrayContaining([token, nameless]));
      for (const { readAt } of read) expect(Math.abs(readAt - before)).toBeLessThan(60_000);
      expect(await tools.store.readTokens(newChain(), [token.address])).toEqual([]);
      expect(await tools.store.readTokens(chain, [])).toEqual([]);
    });
  });
}
