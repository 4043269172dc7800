import { sql } from 'kysely';

/** The server's current time in Unix milliseconds. */
export const postgresNow = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;
