/** Selects addresses that streams list, by rows of `stream_address` with the name `its`. */
import { type SqlBool, sql } from 'kysely';

/** The row is in its stream's current list: changes that are not active do not count. */
export const IS_LISTED = sql<SqlBool>`
  not exists (select 1 from address_change as added
    where added.id = its.added_by and added.state <> 'active')
  and (its.removed_by is null or exists (select 1 from address_change as removed
    where removed.id = its.removed_by and removed.state <> 'active'))`;
