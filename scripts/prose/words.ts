/** Checks names and terms in pages with textlint's terminology rule. */
import { createRequire } from 'node:module';
import { TextlintKernel, type TextlintKernelPlugin } from '@textlint/kernel';
import terminology from 'textlint-rule-terminology';
import type { Finding } from './patterns.ts';
import type { Text } from './read.ts';

/** Preferred terms: names in their correct case, or regular expressions with replacements. */
const WORDS: readonly (string | readonly [wrong: string, right: string])[] = [
  'Aptos',
  'Chromium',
  'Ethereum',
  'EVM',
  'HMAC',
  'JSON-RPC',
  'OpenTelemetry',
  'PostgreSQL',
  'Prometheus',
  'RPC',
  'Sluice',
  'Solidity',
  'TLS',
  'WebSocket',
  ['postgres', 'PostgreSQL'],
  ['json rpc', 'JSON-RPC'],
  ['web[- ]?socket(s?)', 'WebSocket$1'],
  ['web[- ]hook(s?)', 'webhook$1'],
  ['call-?back URL(s?)', 'webhook URL$1'],
  ['back[- ]fill(s|ed|ing)?', 'backfill$1'],
  ['re-org(s)?', 'reorg$1'],
  ['re-?organi[sz]ations?', 'reorg'],
  ['check-points?', 'checkpoint'],
  ['time[- ]line(s)?', 'timeline$1'],
  ['data base(s)?', 'database$1'],
  ['black-?list(s|ed)?', 'blocklist$1'],
  ['white-?list(s|ed)?', 'allowlist$1'],
  ['behaviour(s)?', 'behavior$1'],
  ['colour(s)?', 'color$1'],
  ['(organ|recogn|normal|summar|serial)is(e|es|ed|ing)', '$1iz$2'],
];

/** Entries of the rule's own list that contradict the vocabulary or common usage. */
const NOT_USED: readonly string[] = [
  'ID',
  "id['’]?s",
  "API['’]?s",
  "URL['’]?s",
  'cURL',
  'indexes\\b',
  'readme(s)?',
  're[- ]export(s|ing|ed)?',
];

// Loaded with `require`, because Node and Vitest disagree on the default export of this CommonJS
// module.
const require = createRequire(import.meta.url);
const markdown = require('@textlint/textlint-plugin-markdown') as {
  default: TextlintKernelPlugin['plugin'];
};
const kernel = new TextlintKernel();

/**
 * Finds misspelled names and terms.
 *
 * @param page all lines of one page in order, without code and quotations.
 */
export async function findWords(page: readonly Text[]): Promise<Finding[]> {
  const { messages } = await kernel.lintText(page.map(({ text }) => text).join('\n'), {
    ext: '.md',
    plugins: [{ pluginId: 'markdown', plugin: markdown.default }],
    rules: [
      {
        ruleId: 'words',
        rule: terminology,
        options: { terms: WORDS, exclude: NOT_USED, skip: [] },
      },
    ],
  });
  return messages.map(({ line, message }) => ({ line, message }));
}
