import { useState } from 'react';
import type { WatchedChain } from '../../tape.ts';
import { CopyButton } from '../../ui/copyButton.tsx';
import { ScrollText } from '../../ui/scrollText.tsx';
import { FleetStrip } from './fleetStrip.tsx';

const TRANSFER = 'Transfer(address,address,uint256)';

const curlSnippet = (chainId: string): string => `curl -X PUT ${location.origin}/streams/evm \\
  -H "x-api-key: $SLUICE_API_KEY" \\
  -H 'content-type: application/json' \\
  -d '{
    "webhookUrl": "http://127.0.0.1:3000/webhook",
    "description": "Every token transfer",
    "tag": "transfers",
    "chainIds": ["${chainId}"],
    "topic0": ["${TRANSFER}"],
    "allAddresses": true,
    "includeContractLogs": true
  }'`;

const kitSnippet = (chainId: string): string => `import { createClient } from '@sluice/kit';

const sluice = createClient({
  baseUrl: '${location.origin}',
  apiKey: process.env.SLUICE_API_KEY,
});

await sluice.streams.create({
  webhookUrl: 'http://127.0.0.1:3000/webhook',
  description: 'Every token transfer',
  tag: 'transfers',
  chainIds: ['${chainId}'],
  topic0: ['${TRANSFER}'],
  allAddresses: true,
  includeContractLogs: true,
});`;

const SNIPPETS = { curl: curlSnippet, TypeScript: kitSnippet } as const;
type Language = keyof typeof SNIPPETS;

/** Nothing yet: one call that makes the first stream, on a chain this service watches. */
export function EmptyStreams({ chains }: { chains: WatchedChain[] }) {
  const [language, setLanguage] = useState<Language>('curl');
  const chainId = chains[0]?.id ?? '0x1';
  const snippet = SNIPPETS[language](chainId);
  return (
    <>
      <FleetStrip streams={[]} chains={chains} />
      <section aria-labelledby="empty-title" className="max-w-180 px-4 py-6">
        <h2 id="empty-title" className="text-16 font-medium">
          No streams yet
        </h2>
        <p className="mt-1 text-muted">
          A stream names what to watch and where to POST it. This one sends every token transfer on{' '}
          {chains[0]?.name ?? 'Ethereum'} to a receiver on this machine; it appears here at once.
        </p>
        <div className="mt-4 rounded-control border border-line bg-surface">
          <div className="flex items-center gap-1 border-b border-line px-2 py-1">
            {(Object.keys(SNIPPETS) as Language[]).map((name) => (
              <button
                key={name}
                type="button"
                aria-pressed={language === name}
                onClick={() => setLanguage(name)}
                className="control rounded-control px-2 text-12 text-muted hover:text-text aria-pressed:bg-raised aria-pressed:text-text"
              >
                {name}
              </button>
            ))}
            <span className="ml-auto">
              <CopyButton text={snippet} label="Copy" />
            </span>
          </div>
          <ScrollText label={`Create a stream with ${language}`}>{snippet}</ScrollText>
        </div>
      </section>
    </>
  );
}
