import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import { Conditions } from './explainedConditions.tsx';

test('a condition on the emitting contract is shown in words', () => {
  const conditions = ['moralis_streams_contract_address', 'value'].map((name) => ({
    name,
    rule: '= 7',
    value: '8',
    holds: false,
    alternative: false,
  }));
  const html = renderToStaticMarkup(createElement(Conditions, { conditions }));
  expect(html).toContain('contract = 7');
  expect(html).toContain('value = 7');
  expect(html).not.toContain('moralis');
});
