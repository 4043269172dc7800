import { expect, test } from 'vitest';
import { createSnippets } from './createSnippets.ts';
import { withRule } from '../../families/evm/draft.ts';
import { NEW_DRAFT, type StreamDraft } from '../streamForm/draft/draft.ts';

const ORIGIN = 'http://127.0.0.1:4400';

const transfers: StreamDraft = withRule(
  {
    ...NEW_DRAFT,
    chains: ['0x1'],
    allAddresses: true,
    webhookUrl: 'sluice://inbox/default',
    tag: "Ann's",
  },
  'Transfer(address,address,uint256)',
);

test('a call omits default fields', () => {
  const { curl } = createSnippets(transfers, ORIGIN);
  expect(curl).toContain('-X PUT http://127.0.0.1:4400/streams/evm');
  expect(curl).not.toContain('includeNativeTxs');
  expect(curl).not.toContain('headers');
  expect(curl).not.toContain('deliver');
  expect(curl).not.toContain('retries');
  expect(createSnippets({ ...transfers, tag: 'both' }, ORIGIN).curl).toContain('"tag": "both"');
});

test('the command has flags, quoted for a shell', () => {
  expect(createSnippets(transfers, ORIGIN)['Command line']).toBe(
    `sluice streams create \\
  --url sluice://inbox/default \\
  --description 'Ann'\\''s' \\
  --tag 'Ann'\\''s' \\
  --chain 0x1 \\
  --event 'Transfer(address,address,uint256)' \\
  --all-addresses \\
  --logs`,
  );
});

test('a schedule of retries is one value of its flag', () => {
  const draft = { ...transfers, retries: '30s 5m' };
  expect(createSnippets(draft, ORIGIN)['Command line']).toContain("--retries '30s, 5m'");
});

test('fields without a flag go into a file, next to the addresses', () => {
  const draft: StreamDraft = {
    ...transfers,
    allAddresses: false,
    addresses: '0xdac17f958d2ee523a2206206994597c13d831ec7',
    headers: 'x-team: treasury',
  };
  const command = createSnippets(draft, ORIGIN)['Command line'];
  expect(command).toMatch(/^cat > stream.yaml <<'END'\n\{/);
  expect(command).toMatch(
    /--file stream.yaml --address 0xdac17f958d2ee523a2206206994597c13d831ec7$/i,
  );
});

test('a script for Aptos sets the family', () => {
  const draft: StreamDraft = {
    ...transfers,
    family: 'aptos',
    chains: ['mainnet'],
    functions: '0x1::aptos_account::transfer',
  };
  const { TypeScript: script } = createSnippets(draft, ORIGIN);
  expect(script).toContain('networkType');
  expect(script).toContain('functions: [');
});
