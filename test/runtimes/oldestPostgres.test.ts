/**
 * Tests the store on the oldest PostgreSQL that the service supports; `npm test` tests the newest.
 */
import { describe, expect, test } from 'vitest';
import { testPostgresStore } from '../../packages/service/test/store/postgres.suite.ts';

const programs = process.env['OLDEST_POSTGRES'];

describe('the store on PostgreSQL 15', () => {
  test('has a server', () => expect(programs).toContain('postgres-15'));
  testPostgresStore(programs);
});
