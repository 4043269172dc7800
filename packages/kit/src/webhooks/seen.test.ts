import { describe, expect, it, vi } from 'vitest';
import { createMemorySeenStore } from './seen.ts';

const HOUR = 3_600_000;

describe('createMemorySeenStore', () => {
  it('remembers for 48 hours', () => {
    let time = 0;
    const store = createMemorySeenStore({ now: () => time });
    store.add('a');
    time = 48 * HOUR - 1;
    expect([store.has('a'), store.has('b')]).toEqual([true, false]);
    time += 1;
    expect(store.has('a')).toBe(false);
  });

  it('restarts the expiry of an id that is added again', () => {
    let time = 0;
    const store = createMemorySeenStore({ now: () => time, keepMs: 10 });
    for (const [id, at] of [
      ['a', 0],
      ['b', 1],
      ['a', 9],
      ['c', 12],
    ] as const) {
      time = at;
      store.add(id);
    }
    expect(['a', 'b', 'c'].map((id) => store.has(id))).toEqual([true, false, true]);
  });

  it('forgets the oldest ids above its maximum, and warns once', () => {
    const warn = vi.fn();
    const store = createMemorySeenStore({ maxIds: 2, warn });
    store.add('a');
    store.add('b');
    expect(warn).not.toHaveBeenCalled();
    for (const id of ['c', 'd', 'e']) store.add(id);
    expect(['a', 'b', 'c', 'd', 'e'].filter((id) => store.has(id))).toEqual(['d', 'e']);
    expect(warn).toHaveBeenCalledExactlyOnceWith(expect.stringContaining('2 IDs'));
  });

  it('treats an id that is added again as the newest', () => {
    const store = createMemorySeenStore({ maxIds: 2, warn: () => undefined });
    for (const id of ['a', 'b', 'a', 'c']) store.add(id);
    expect(['a', 'b', 'c'].filter((id) => store.has(id))).toEqual(['a', 'c']);
  });

  it('does not warn about expired ids', () => {
    let time = 0;
    const warn = vi.fn();
    const store = createMemorySeenStore({ maxIds: 1, keepMs: 10, now: () => time, warn });
    for (; time < 100; time += 10) store.add(String(time));
    expect(warn).not.toHaveBeenCalled();
  });

  it.each([{ maxIds: 0 }, { maxIds: Number.NaN }, { keepMs: 0 }, { keepMs: Number.NaN }])(
    'rejects %j',
    (options) => {
      expect(() => createMemorySeenStore(options)).toThrow('maxIds must be 1 or more');
    },
  );

  it('warns on the console by default', () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    const store = createMemorySeenStore({ maxIds: 1 });
    store.add('a');
    store.add('b');
    expect(warn).toHaveBeenCalledOnce();
    warn.mockRestore();
  });
});
