import { describe, expect, test } from 'vitest';
import { parseServers } from './postgresServers.ts';

describe('the servers of a URL', () => {
  test('are each a URL of their own, with all that belongs to both', () => {
    expect(parseServers('postgres://u:p%40ss@a:1,b:2/db?sslmode=require')).toEqual([
      'postgres://u:p%40ss@a:1/db?sslmode=require',
      'postgres://u:p%40ss@b:2/db?sslmode=require',
    ]);
    expect(parseServers('postgresql://[::1]:5432,b/db')).toEqual([
      'postgresql://[::1]:5432/db',
      'postgresql://b/db',
    ]);
  });

  test('take writes, and nothing else can be asked of them', () => {
    expect(parseServers('postgres://a,b/db?target_session_attrs=read-write')).toEqual([
      'postgres://a/db',
      'postgres://b/db',
    ]);
    expect(() => parseServers('postgres://a/db?target_session_attrs=standby')).toThrow(
      'target_session_attrs=standby cannot be had',
    );
    expect(() => parseServers('postgres://a:x,b/db')).toThrow(
      'should be a URL such as postgres://localhost',
    );
  });
});
