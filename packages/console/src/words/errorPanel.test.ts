import { SluiceError } from '@sluice/kit';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import { ERROR_HINTS, type SluiceErrorCode } from '../../../kit/src/errors.ts';
import { ErrorPanel } from './errorPanel.tsx';

const draw = (error: SluiceError): string =>
  renderToStaticMarkup(createElement(ErrorPanel, { what: 'The list', error, onRetry: () => {} }));

const codes = Object.keys(ERROR_HINTS) as SluiceErrorCode[];

test.each(codes)('%s links to its explanation', (code) => {
  const error = new SluiceError(code, 'It failed');
  expect(draw(error)).toContain(`href="${error.docUrl}"`);
});

test('an error of the service names the log and the request id', () => {
  const requestId = '5d0c1f0e-8a2b-4a5f-8a77-1f3f3c1c2a10';
  const failed = draw(new SluiceError('server_error', 'It failed', { status: 500, requestId }));
  expect(failed).toContain(requestId);
  expect(failed).toContain('Look for this ID in the service log');
  const refused = draw(new SluiceError('bad_request', 'No', { status: 400, requestId }));
  expect(refused).toContain(requestId);
  expect(refused).not.toContain('log');
});
