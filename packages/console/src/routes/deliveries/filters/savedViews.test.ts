import { expect, test } from 'vitest';
import { isSameView, MAX_VIEWS, parseViews, withView } from './savedViews.ts';

const STREAM = '0190f3c2-1111-4111-8111-111111111111';

test('a view is stored without the open delivery, and read again', () => {
  const search = { state: 'failed', stream: STREAM, sel: STREAM, view: 'payload' } as const;
  const [view] = parseViews(JSON.stringify([{ name: 'Failures', search }]));
  expect(view).toEqual({ name: 'Failures', search: { state: 'failed', stream: STREAM } });
});

test('damaged views are dropped, and damaged fields ignored', () => {
  for (const text of ['', '{}', 'null', '[1, null, {"name": 1}, {"name": "a", "search": null}]']) {
    expect(parseViews(text), text).toEqual([]);
  }
  const text = JSON.stringify([{ name: 'a', search: { state: 'lost', from: -1, status: '5xx' } }]);
  expect(parseViews(text)).toEqual([{ name: 'a', search: { status: '5xx' } }]);
});

test('a name is used once, and the number of views is limited', () => {
  const views = Array.from({ length: 60 }, (_, n) => ({
    name: `view ${n % 55}`,
    search: {},
  })).reduce<ReturnType<typeof parseViews>>(withView, []);
  expect(views).toHaveLength(MAX_VIEWS);
  const first = views.at(0)!;
  const renewed = withView(views, { name: first.name, search: { status: '404' } });
  expect(renewed).toHaveLength(MAX_VIEWS);
  expect(renewed.find(({ name }) => name === first.name)?.search).toEqual({ status: '404' });
});

test('views with the same filter are equal in any order', () => {
  expect(isSameView({ status: '404', q: 'a' }, { q: 'a', status: '404', sel: STREAM })).toBe(true);
  expect(isSameView({ status: '404' }, { status: '500' })).toBe(false);
});
