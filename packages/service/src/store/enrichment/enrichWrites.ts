import type { DeliverySummary } from '@sluice/kit/contract';
import { sql } from 'kysely';
import { readMoment, readNow } from '../engine/engine.ts';
import type { Ledger } from '../live/effects.ts';
import { holdsLease } from '../leases/leases.ts';
import { deliveryColumns, toDeliverySummary } from '../rows/deliveryRow.ts';
import type { EnrichWrites } from './contract.ts';
import type { StoredState } from '../tables/deliveries.ts';

/** Writes the results of enrichment: tokens and completed bodies. */
export const createEnrichWrites = ({ db, engine, transact }: Ledger): EnrichWrites => ({
  async saveTokens(chain, tokens) {
    if (tokens.length === 0) return;
    const now = await readNow(engine, db);
    await db
      .insertInto('token')
      .values(
        tokens.map((token) => ({
          chain,
          address: token.address,
          name: token.name,
          symbol: token.symbol,
          decimals: token.decimals,
          standard: token.standard,
          block_number: token.blockNumber,
          updated_at: now,
        })),
      )
      .onConflict((conflict) =>
        conflict.columns(['chain', 'address']).doUpdateSet((eb) => ({
          name: eb.ref('excluded.name'),
          symbol: eb.ref('excluded.symbol'),
          decimals: eb.ref('excluded.decimals'),
          standard: eb.ref('excluded.standard'),
          block_number: eb.ref('excluded.block_number'),
          updated_at: eb.ref('excluded.updated_at'),
        })),
      )
      .execute();
  },

  async completeEnrichments({ chain, epoch, completed }) {
    return transact(async (trx, effects) => {
      if (!(await holdsLease(trx, engine, chain, epoch))) return;
      const { now, open } = await readMoment(engine, trx);
      const whole = engine.rows(
        completed.flatMap((each) =>
          'setAside' in each
            ? []
            : [
                {
                  id: each.matchId,
                  body_tail: each.bodyTail,
                  body_bytes: Buffer.byteLength(each.bodyTail),
                  about: each.about,
                },
              ],
        ),
        { id: 'text', body_tail: 'text', body_bytes: 'bigint', about: 'text' },
      );
      const isOpen = sql`${open('match.block_day')} and match.enrichment is not null
        and match.state <> 'orphaned'`;
      const { rows: due } = await sql<{ id: string }>`
        update match set body_tail = whole.body_tail,
          body_bytes = octet_length(body_head) + whole.body_bytes, enrichment = null,
          about = case whole.about when '' then match.about else whole.about end
        from ${whole} as whole
        where match.id = whole.id and ${isOpen}
        returning match.id`.execute(trx);
      const refused = completed.flatMap((each) =>
        'setAside' in each ? [{ id: each.matchId, reason: each.setAside }] : [],
      );
      const { rows: setAside } =
        refused.length === 0
          ? { rows: [] }
          : await sql<{ id: string }>`
              update match set set_aside = refused.reason
              from ${engine.rows(refused, { id: 'text', reason: 'text' })} as refused
              where match.id = refused.id and ${isOpen}
              returning match.id`.execute(trx);

      const change = async (
        matches: readonly { id: string }[],
        state: 'pending' | 'quarantined',
      ): Promise<DeliverySummary[]> => {
        if (matches.length === 0) return [];
        const rows = await trx
          .updateTable('delivery')
          .set((eb) => {
            const ofMatch = <Column extends 'body_bytes' | 'about' | 'set_aside' | 'held'>(
              column: Column,
            ) =>
              eb
                .selectFrom('match')
                .select(`match.${column}`)
                .whereRef('match.id', '=', 'delivery.match_id')
                .whereRef('match.block_day', '=', 'delivery.block_day')
                .where(open('match.block_day'));
            return {
              state:
                state === 'quarantined'
                  ? state
                  : sql<StoredState>`case ${ofMatch('held')} when 1 then 'held' else 'pending' end`,
              run_at: now,
              updated_at: now,
              body_bytes: ofMatch('body_bytes'),
              about: ofMatch('about'),
              last_error: ofMatch('set_aside'),
            };
          })
          .where(open('block_day'))
          .where(
            'match_id',
            'in',
            matches.map(({ id }) => id),
          )
          .where('state', '=', 'enriching')
          .returning(deliveryColumns)
          .execute();
        return rows.map(toDeliverySummary);
      };
      effects.offerDeliveries(await change(due, 'pending'));
      effects.moveDeliveries(await change(setAside, 'quarantined'));
    });
  },
});
