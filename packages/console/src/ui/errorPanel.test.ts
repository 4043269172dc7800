import { SluiceError } from '@sluice/kit';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import { ERROR_HINTS, type SluiceErrorCode } from '../../../kit/src/errors.ts';
import { ErrorPanel } from './errorPanel.tsx';

const codes = Object.keys(ERROR_HINTS) as SluiceErrorCode[];

test.each(codes)('%s: links to where it is explained', (code) => {
  const error = new SluiceError(code, 'It failed');
  const panel = createElement(ErrorPanel, { what: 'The list', error, onRetry: () => {} });
  expect(renderToStaticMarkup(panel)).toContain(`href="${error.docUrl}"`);
});
