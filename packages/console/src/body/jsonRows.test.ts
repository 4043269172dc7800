import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  findInJson,
  MAX_HITS,
  OPEN_AT_FIRST,
  toJsonLines,
  withToggled,
  type OpenState,
} from './jsonRows.ts';

const NONE = OPEN_AT_FIRST;
const rowsOf = (value: unknown, openState: OpenState) => {
  const { count, row } = toJsonLines(value, openState);
  return Array.from({ length: count }, (_, line) => row(line));
};
const lines = (value: unknown, openState: OpenState = NONE) =>
  rowsOf(value, openState).map(({ path, text, size }) => `${path} ${text || size}`);

test('members of the body are not indented and have valid paths', () => {
  expect(lines({ a: 1, 'b-c': null, list: [true, 'x'] })).toEqual([
    '$.a 1',
    '$["b-c"] null',
    '$.list 2',
    '$.list[0] true',
    '$.list[1] "x"',
  ]);
});

test('toggling closes or opens a container', () => {
  expect(lines({ list: [1] }, { ...NONE, toggled: new Set(['$.list']) })).toEqual(['$.list 1']);
  const long = { logs: [{ rows: Array.from({ length: 30 }, (_, index) => index) }] };
  expect(lines(long)).toHaveLength(3);
  expect(lines(long, { ...NONE, toggled: new Set(['$.logs[0].rows']) })).toHaveLength(33);
});

test('each line has its path, and follows the open lines before it', () => {
  fc.assert(
    fc.property(
      fc.object({
        maxDepth: 4,
        maxKeys: 5,
        withNullPrototype: false,
        values: [fc.integer(), fc.string()],
      }),
      fc.constantFrom('first' as const, 'all' as const, 'none' as const),
      fc.infiniteStream(fc.boolean()),
      (body, start, chance) => {
        const paths = rowsOf(body, { ...NONE, start: 'all' }).map(({ path }) => path);
        const some = (): Set<string> => new Set(paths.filter(() => chance.next().value));
        const openState = { start, toggled: some(), revealed: some() };
        const { count, row, indexOf } = toJsonLines(body, openState);
        const seen: string[] = [];
        const walk = (value: object, depth: number): void => {
          for (const member of Object.values(value)) {
            const line = seen.length;
            const { path, open, size, ...rest } = row(line);
            seen.push(path);
            expect(rest.depth).toBe(depth);
            expect(indexOf(path)).toBe(line);
            expect(paths).toContain(path);
            const isOpen =
              openState.revealed.has(path) ||
              (start === 'first' ? rest.openAtFirst : start === 'all') !==
                openState.toggled.has(path);
            expect(open).toBe(isOpen && size > 0);
            if (open) walk(member as object, depth + 1);
          }
        };
        walk(body, 1);
        expect(seen).toHaveLength(count);
        expect(new Set(seen).size).toBe(count);
        for (const path of paths) if (!seen.includes(path)) expect(indexOf(path)).toBe(-1);
      },
    ),
  );
});

test('an empty container is a single line', () => {
  expect(rowsOf({ a: [], b: {} }, NONE).map(({ open, size }) => [open, size])).toEqual([
    [false, 0],
    [false, 0],
  ]);
});

test('a body that is not an object is one line', () => {
  expect(lines('text')).toEqual(['$ "text"']);
});

test('text from the chain stays text', () => {
  const [row] = rowsOf({ tokenName: '<img src=x onerror=alert(1)>' }, NONE);
  expect(row?.text).toBe('"<img src=x onerror=alert(1)>"');
});

test('notes depend on the key, the value and the parent', () => {
  const root = { block: { number: '1' } };
  const { count, row } = toJsonLines(root, NONE, (key, value, parent) =>
    JSON.stringify([key, value, parent]),
  );
  expect(Array.from({ length: count }, (_, line) => row(line).note)).toEqual([
    '["block",{"number":"1"},{"block":{"number":"1"}}]',
    '["number","1",{"number":"1"}]',
  ]);
});

test('a large body is flattened quickly', () => {
  const logs = Array.from({ length: 10_000 }, (_, index) => ({
    logIndex: String(index),
    data: '0x',
  }));
  expect(rowsOf({ logs }, NONE).length).toBe(30_001);
});

test('everything can be opened and closed at once', () => {
  const value = { a: { b: { c: { d: 1 } } } };
  expect(lines(value, { ...NONE, start: 'all' })).toHaveLength(4);
  expect(lines(value, { ...NONE, start: 'none' })).toHaveLength(1);
});

test('matches in keys and values are counted, with their paths', () => {
  const value = { block: { hash: '0xAB' }, logs: [{ data: '0xab', Absent: null }] };
  expect(findInJson(value, 'ab')).toEqual([
    { path: '$.block.hash', within: ['$.block'] },
    { path: '$.logs[0].data', within: ['$.logs', '$.logs[0]'] },
    { path: '$.logs[0].Absent', within: ['$.logs', '$.logs[0]'] },
  ]);
  expect(findInJson(value, '')).toEqual([]);
  // Special characters of patterns match literally.
  expect(findInJson({ a: 'f(x).[1]', b: 'f' }, 'F(X).[1]').map(({ path }) => path)).toEqual([
    '$.a',
  ]);
  for (const text of ['.*', '(', '\\', 'a|b', '^', '$']) {
    expect(findInJson({ a: `<${text}>`, c: 'ab' }, text).map(({ path }) => path)).toEqual(['$.a']);
  }
  expect(findInJson('ab', 'ab')).toEqual([]);
  expect(
    findInJson(
      Array.from({ length: 5000 }, () => 'x'),
      'x',
    ),
  ).toHaveLength(MAX_HITS);
});

test('a revealed container is open, and closes when toggled', () => {
  const value = { a: { b: { c: { d: 1 } } } };
  const revealed: OpenState = { start: 'none', toggled: new Set(), revealed: new Set(['$.a']) };
  const pressed = (openState: OpenState): OpenState =>
    rowsOf(value, openState)
      .filter(({ path }) => path === '$.a')
      .reduce(withToggled, openState);
  expect(lines(value, revealed)).toEqual(['$.a 1', '$.a.b 1']);
  expect(lines(value, pressed(revealed))).toEqual(['$.a 1']);
  // A container that would be open even without the search closes, too.
  const both: OpenState = { ...revealed, start: 'all' };
  expect(lines(value, pressed(both))).toEqual(['$.a 1']);
});

test('a line is found by its path, even among many with the same ending', () => {
  const { count, indexOf, row } = toJsonLines(
    { logs: [{ topic0: '1' }, { topic0: '2' }], topic0: '3', abi: [{ name: 'closed' }] },
    NONE,
  );
  for (let line = 0; line < count; line++) expect(indexOf(row(line).path)).toBe(line);
  expect(indexOf('$.abi[0].name')).toBe(-1);
  expect(indexOf('$.none')).toBe(-1);
});
