import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { createSnippets } from '../newStream/createSnippets.ts';
import { FORM_WORDS, LOCAL_ACCOUNT } from '../../families/formWords.ts';
import { draftFrom } from '../newStream/createStream.ts';
import { RecipeCards } from '../newStream/recipeCards.tsx';
import { recipesFor } from '../newStream/recipes.ts';
import { recognize, toAddress } from '../../words/paste.ts';
import type { WatchedChain } from '../../chains/timeline.ts';
import { Button } from '../../ui/button.tsx';
import { Command } from '../../ui/text/command.tsx';
import { ErrorPanel } from '../../words/errorPanel.tsx';
import { TextField } from '../../ui/form/field.tsx';
import { Snippets } from '../../ui/text/snippets.tsx';
import { firstChains } from '../streamForm/watchPart.tsx';
import type { useDemoStream } from './demoStream.ts';

const IMPORT_COMMAND = `export MORALIS_API_KEY=…
sluice import moralis --dry-run   # lists what it would import
sluice import moralis`;

/** Offers ways to create a stream, with the equivalent commands. */
export function StartChoices({ demo }: { demo: ReturnType<typeof useDemoStream> }) {
  return (
    <ol className="border-t border-line">
      <Demo demo={demo} />
      <Recipes chains={demo.chains ?? []} />
      <Address chains={demo.chains ?? []} />
      <Start
        title="Import streams"
        text="Copy streams from the hosted Streams API with their addresses and URLs. Imported streams start paused. The command prompts for the hosted streams secret, so that your receivers need no changes."
        code={<Command label="Import streams" text={IMPORT_COMMAND} />}
      />
    </ol>
  );
}

function Start({
  title,
  text,
  code,
  children,
}: {
  title: string;
  text: string;
  code: React.ReactNode;
  children?: React.ReactNode;
}) {
  return (
    <li className="grid gap-x-8 gap-y-3 border-b border-line px-4 py-4 md:grid-cols-[minmax(0,20rem)_minmax(0,42rem)]">
      <div className="grid content-start gap-3">
        <div>
          <h3 className="text-14 font-medium">{title}</h3>
          <p className="mt-0.5 text-muted">{text}</p>
        </div>
        {children}
      </div>
      <div className="flex min-w-0 self-start rounded-control border border-line bg-surface">
        {code}
      </div>
    </li>
  );
}

function Demo({ demo: { chains, draft, create } }: { demo: ReturnType<typeof useDemoStream> }) {
  if (draft === null) {
    return chains === undefined ? null : (
      <Start
        title="Add a chain"
        text="No chains yet. Start the service with a chain and the URL of a node."
        code={<Command label="Add a chain" text="sluice serve --chain 0x1=https://…" />}
      />
    );
  }
  const name = chains?.find(({ id }) => id.endsWith(draft.chains[0] ?? ''))?.name ?? '';
  return (
    <Start
      title="Try the demo"
      text={`Sends ${FORM_WORDS[draft.family].demo} on ${name} to the inbox, starting with the next one.`}
      code={<Snippets snippets={createSnippets(draft, location.origin)} />}
    >
      <div>
        <Button variant="primary" disabled={create.isPending} onClick={() => create.mutate()}>
          {create.isPending ? 'Starting…' : 'Start demo stream'}
        </Button>
      </div>
      {create.isError && (
        <ErrorPanel
          what="Couldn't start the demo stream"
          error={create.error}
          onRetry={() => create.mutate()}
        />
      )}
    </Start>
  );
}

function Recipes({ chains }: { chains: readonly WatchedChain[] }) {
  if (recipesFor(chains).length === 0) return null;
  return (
    <Start
      title="Start from a recipe"
      text="A recipe fills in the form for a common stream. Paste an address, check the dry run, and create the stream."
      code={<RecipeCards chains={chains} />}
    />
  );
}

function Address({ chains }: { chains: readonly WatchedChain[] }) {
  const navigate = useNavigate();
  const [address, setAddress] = useState('');
  const typed = address.trim();
  // Shows the command with an example until the input is an address.
  const isAddress = toAddress(recognize(typed)) !== undefined;
  const draft = draftFrom({ address: isAddress ? typed : LOCAL_ACCOUNT });
  const snippets = createSnippets(
    { ...draft, tag: 'wallet', chains: firstChains(chains, draft.family), includeNativeTxs: true },
    location.origin,
  );
  return (
    <Start
      title="Watch an address"
      text="Enter an account or a contract on any chain of this service. A dry run shows what the stream would have sent for recent blocks."
      code={<Command label="Watch an address" text={snippets['Command line']} />}
    >
      <form
        className="flex items-end gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          void navigate({ to: '/streams/new', search: typed === '' ? {} : { address: typed } });
        }}
      >
        <span className="min-w-0 flex-1">
          <TextField
            label="Address"
            mono
            placeholder={LOCAL_ACCOUNT}
            value={address}
            onChange={(event) => setAddress(event.target.value)}
          />
        </span>
        <Button type="submit">Continue</Button>
      </form>
    </Start>
  );
}
