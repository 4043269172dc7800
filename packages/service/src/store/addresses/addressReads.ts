/** Reads the addresses of streams, and the changes to address lists and rules. */
import type { ChainFamily } from '@sluice/kit/contract';
import { type Kysely, sql } from 'kysely';
import type { Tables } from '../tables/tables.ts';
import { streamColumns, toStreamRecord } from '../streams/streamRow.ts';
import type { StreamOfFamily } from '../streams/contract.ts';
import type { AddressReads, AddressRecord, AddressRecordPage } from './contract.ts';
import { isSought } from '../rows/addressSearch.ts';
import { fromDigits } from './packedAddresses.ts';

/**
 * Number of addresses per page. Large pages load an index faster, and adding a page to the index
 * takes only a few milliseconds.
 */
const ADDRESSES_PER_PAGE = 20_000;
/** Maximum number of parts per read. A part has at most 160 kB of addresses. */
const PARTS_PER_PAGE = 20;

/** Selects the addresses of a stream in order, as if a change that is not active did not exist. */
function selectAddresses(db: Kysely<Tables>, streamId: string, after: string | undefined) {
  const pending = sql<number>`coalesce((
    select id from address_change where stream_id = ${streamId} and state <> 'active'), -1)`;
  const rows = db
    .selectFrom('stream_address')
    .where('stream_id', '=', streamId)
    .where('added_by', '!=', pending)
    .where((eb) => eb.or([eb('removed_by', 'is', null), eb('removed_by', '=', pending)]))
    .orderBy('address');
  return after === undefined ? rows : rows.where('address', '>', after);
}

/**
 * Converts the row of an address. `adder` is the name of the API key that added the address; null
 * if the ledger does not contain the key.
 */
const toAddressRecord = (
  row: Pick<Tables['stream_address'], 'address' | 'label' | 'added_at' | 'key_id'> & {
    adder: string | null;
  },
): AddressRecord => ({
  address: row.address,
  label: row.label,
  addedAt: row.added_at,
  addedBy: row.adder ?? row.key_id,
});

async function addressPageOf(
  chosen: ReturnType<typeof selectAddresses>,
  limit: number,
): Promise<AddressRecordPage> {
  const rows = await chosen
    .leftJoin('api_key', 'api_key.id', 'stream_address.key_id')
    .select(['address', 'label', 'added_at', 'key_id', 'api_key.name as adder'])
    .limit(limit + 1)
    .execute();
  const addresses = rows.slice(0, limit).map(toAddressRecord);
  return { addresses, next: rows.length > limit ? addresses.at(-1)?.address : undefined };
}

export function createAddressReads(db: Kysely<Tables>): AddressReads {
  return {
    async listAddresses(streamId, { limit, after }) {
      return addressPageOf(selectAddresses(db, streamId, after), limit);
    },

    async findAddresses(streamId, { find, limit, after }) {
      return addressPageOf(selectAddresses(db, streamId, after).where(isSought(find)), limit);
    },

    async readRules<Name extends ChainFamily>(afterRevision: number, family: Name) {
      // Reads in one transaction, so that the revision is never newer than the rows.
      return db
        .transaction()
        .setIsolationLevel('repeatable read')
        .execute(async (trx) => {
          const { revision, trimmed } = await trx
            .selectFrom('rule_revision')
            .select(['revision', 'trimmed'])
            .executeTakeFirstOrThrow();
          const whole = afterRevision < trimmed;
          const streams = await trx
            .selectFrom('stream')
            .select([...streamColumns, 'deleted_at'])
            .where('family', '=', family)
            .where('destination_of', 'is', null)
            .where('revision', '>', whole ? -1 : afterRevision)
            .execute();
          const live = streams.filter(
            (row) => row.deleted_at === null && (row.status === 'active' || row.status === 'error'),
          );
          const gone = streams.filter((row) => !live.includes(row)).map((row) => row.id);
          const changed = live.map(toStreamRecord) as StreamOfFamily<Name>[];
          return { revision, whole, changed, gone };
        });
    },

    async readAddresses(streamId, after) {
      const page = selectAddresses(db, streamId, after)
        .select('address')
        .limit(ADDRESSES_PER_PAGE)
        .as('page');
      // The page is already sorted; sorting it again would take longer than reading it.
      const { digits, count } = await db
        .selectFrom(page)
        .select([
          sql<string | null>`string_agg(substr(address, 3), '')`.as('digits'),
          sql<number>`count(*)`.as('count'),
        ])
        .executeTakeFirstOrThrow();
      const bytes = fromDigits(digits ?? '');
      const width = bytes.length > count * 20 ? 32 : 20;
      const isLast = count < ADDRESSES_PER_PAGE;
      return {
        addresses: { width, bytes },
        next: isLast ? undefined : `0x${digits!.slice(-width * 2)}`,
      };
    },

    async readAddressChanges(after, upTo) {
      const page = await db
        .transaction()
        .setIsolationLevel('repeatable read')
        .execute(async (trx) => {
          const { trimmed } = await trx
            .selectFrom('rule_revision')
            .select('trimmed')
            .executeTakeFirstOrThrow();
          if (after.revision < trimmed) return undefined;
          return trx
            .selectFrom('address_change as change')
            .innerJoin('address_change_part as part', 'part.change_id', 'change.id')
            .select(['change.revision', 'change.id', 'change.stream_id', 'part.part', 'part.kind'])
            .select(['part.width', 'part.digits'])
            .where('change.revision', '>=', after.revision)
            .where('change.revision', '<=', upTo)
            .where(
              sql<boolean>`(change.revision, change.id, part.part)
                > (${after.revision}, ${after.change}, ${after.part})`,
            )
            .orderBy('change.revision')
            .orderBy('change.id')
            .orderBy('part.part')
            .limit(PARTS_PER_PAGE)
            .execute();
        });
      const last = page?.at(-1);
      return (
        page && {
          changes: page.map(({ stream_id: streamId, kind, width, digits }) => ({
            streamId,
            kind,
            addresses: { width, bytes: fromDigits(digits) },
          })),
          next:
            page.length === PARTS_PER_PAGE && last
              ? { revision: last.revision!, change: last.id, part: last.part }
              : undefined,
        }
      );
    },
  };
}
