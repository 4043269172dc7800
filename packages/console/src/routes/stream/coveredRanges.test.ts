import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import { ByRange, Unverified } from './coveredRanges.tsx';

const rangesOf = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ from: n * 10, to: n * 10 + 4 }));

const drawings = {
  unverified: (count: number) =>
    renderToStaticMarkup(
      createElement(Unverified, {
        ranges: rangesOf(count).map((range) => ({ ...range, codes: ['receipts-root', 'bloom'] })),
      }),
    ),
  byRange: (count: number) =>
    renderToStaticMarkup(createElement(ByRange, { ranges: rangesOf(count) })),
};

test.each(Object.entries(drawings))(
  '%s lists the newest ranges, and offers the others',
  (_, draw) => {
    expect(draw(0)).toBe('');
    expect(draw(20)).not.toContain('Show more');
    const many = draw(23);
    expect(many.match(/<li class="flex/g)).toHaveLength(20);
    expect(many).toContain('220 – 224');
    expect(many).toContain('115 ');
    expect(many).toContain('Show more (3 earlier ranges)');
  },
);

test('unverified blocks show what each code means, once', () => {
  const drawing = drawings.unverified(2);
  expect(drawing.match(/receipts-root, bloom/g)).toHaveLength(2);
  expect(drawing.match(/not proven by the receipts root/g)).toHaveLength(1);
});
