import { describe } from 'vitest';
import { testPostgresStore } from './postgres.suite.ts';

describe('PostgreSQL store', () => testPostgresStore());
