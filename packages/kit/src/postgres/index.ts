/** `@sluice/kit/postgres`: webhooks as rows of PostgreSQL tables. */
export { createTables, type Tables, type TablesDelivery, type TablesOptions } from './tables.ts';
export type { PostgresClient, PostgresPool } from './pool.ts';
export type { TableFamily } from '../families/tables.ts';
export { isSluiceError, SluiceError } from '../errors.ts';
