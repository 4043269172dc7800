/** Reads the body of a response, or its error. */
import { parseRetryAfter } from '../../contract/rules/retryAfter.ts';
import { cutText } from '../../contract/rules/text.ts';
import { SluiceError } from '../../errors.ts';
import type { FieldProblem, SluiceErrorCode } from '../../errors.ts';
import { redact } from './redact.ts';

export async function readJson(response: Response): Promise<unknown> {
  const text = await readText(response);
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw new SluiceError('invalid_response', 'The response is not JSON', {
      status: response.status,
      requestId: requestIdOf(response),
    });
  }
}

export async function readText(response: Response): Promise<string> {
  try {
    return await response.text();
  } catch (cause) {
    throw new SluiceError('network_error', 'The response ended early', {
      status: response.status,
      requestId: requestIdOf(response),
      cause,
    });
  }
}

export const requestIdOf = (response: Response): string | undefined =>
  response.headers.get('x-request-id') ?? undefined;

export async function errorOf(
  response: Response,
  secrets: readonly string[],
): Promise<SluiceError> {
  const { status } = response;
  const text = await readText(response);
  const { message, details } = parseErrorBody(redact(text, secrets));
  const code = codeOf(response);
  const retryAfterMs = parseRetryAfter(response.headers.get('retry-after'), Date.now());
  const fallback =
    code === 'redirected'
      ? 'The service redirects to another URL'
      : `The service returned ${`${status} ${response.statusText}`.trim()}`;
  const problems = formatDetails(details);
  const whole = message ?? fallback;
  const first = problems.length === 0 ? whole : whole.replace(/\.$/, '');
  return new SluiceError(code, [first, ...problems].join('; '), {
    status,
    requestId: requestIdOf(response),
    details,
    fields: fieldsOf(details),
    retryAfterMs,
  });
}

function codeOf({ status, type }: Response): SluiceErrorCode {
  if (type === 'opaqueredirect' || (status >= 300 && status < 400)) return 'redirected';
  switch (status) {
    case 400:
      return 'bad_request';
    case 401:
      return 'unauthorized';
    case 403:
      return 'forbidden';
    case 404:
      return 'not_found';
    case 409:
      return 'conflict';
    case 413:
      return 'payload_too_large';
    case 422:
      return 'validation_failed';
    case 429:
      return 'rate_limited';
    default:
      return status >= 500 ? 'server_error' : 'unexpected_status';
  }
}

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function parseErrorBody(text: string): {
  message?: string | undefined;
  details?: Readonly<Record<string, unknown>> | undefined;
} {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return {};
  }
  if (!isRecord(body)) return {};
  const { message, details, fields } = body;
  const lines = (Array.isArray(message) ? message : [message]).filter(
    (line): line is string => typeof line === 'string' && line !== '',
  );
  return {
    message: lines.length > 0 ? shorten(lines.join(', '), 2000) : undefined,
    details: [details, fields].find(isRecord),
  };
}

const fieldsOf = (details: Readonly<Record<string, unknown>> = {}): SluiceError['fields'] =>
  Object.fromEntries(
    Object.entries(details).flatMap(([path, detail]) =>
      isFieldProblem(detail) ? [[toField(path), detail]] : [],
    ),
  );

const isFieldProblem = (detail: unknown): detail is FieldProblem =>
  isRecord(detail) && typeof detail['message'] === 'string';

const toField = (path: string): string => path.replace(/^requestBody\./, '');

/**
 * Formats the problems of the first ten fields, such as
 * `chainIds should name at least one chain (got [])`.
 */
function formatDetails(details: Readonly<Record<string, unknown>> = {}): string[] {
  return Object.entries(details)
    .slice(0, 10)
    .map(([path, problem]) => {
      const field = toField(path);
      if (!isFieldProblem(problem)) {
        return `${field}: ${typeof problem === 'string' ? problem : show(problem)}`;
      }
      const got = 'value' in problem && !/secret|key|header/i.test(field);
      return `${field} ${problem.message}${got ? ` (got ${show(problem.value)})` : ''}`;
    });
}

const show = (value: unknown): string => shorten(JSON.stringify(value) ?? 'nothing', 100);

const shorten = (text: string, length: number): string =>
  text.length > length ? `${cutText(text, length)}…` : text;
