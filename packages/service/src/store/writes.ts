import type { Kysely } from 'kysely';
import { createBlockWrites } from './blockWrites.ts';
import { createDeliveryWrites } from './deliveryWrites.ts';
import type { Engine } from './engine.ts';
import type { Writes } from './store.ts';
import { createStreamWrites } from './streamWrites.ts';
import type { Tables } from './tables.ts';

/** The statements that change the ledger, each method one transaction. */
export const createWrites = (db: Kysely<Tables>, engine: Engine): Writes => ({
  ...createStreamWrites(db, engine),
  ...createBlockWrites(db, engine),
  ...createDeliveryWrites(db, engine),
});
