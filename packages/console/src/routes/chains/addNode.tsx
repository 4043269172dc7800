import { CHAIN_PAGES } from '../../families/chains.ts';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { nodeChangesQuery } from '../../data/queries/access.ts';
import { queryKeys, sluice } from '../../data/queries/service.ts';
import { toNodeFlag } from '@sluice/kit/contract';
import type { WatchedChain } from '../../chains/timeline.ts';
import { CopyButton } from '../../ui/text/copyButton.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { SelectField, TextField } from '../../ui/form/field.tsx';
import { UrlForm } from '../../words/urlForm.tsx';
import { showToast } from '../../ui/toasts.ts';

/** Values of the choice of a chain that are no chain IDs. */
const FOUND = '';
const OTHER = 'other';

/** Adds a node. If the service does not allow this, shows the command-line flag that adds it. */
export function AddNode({
  chains,
  onAdded = () => {},
  onClose,
}: {
  chains: readonly WatchedChain[];
  /** Called with the ID of the chain that the node serves. */
  onAdded?: (chainId: string) => void;
  onClose: () => void;
}) {
  const queryClient = useQueryClient();
  const { data: canAdd } = useQuery(nodeChangesQuery);
  const [chosen, setChosen] = useState<string>();
  const [typed, setTyped] = useState('');
  const [url, setUrl] = useState('');
  const choice = chosen ?? (canAdd === true ? FOUND : (chains[0]?.id ?? OTHER));
  const chainId = choice === OTHER ? typed.trim() : choice;
  const renderChain = (problem?: string) => (
    <>
      <SelectField label="Chain" value={choice} onChange={(event) => setChosen(event.target.value)}>
        {canAdd === true && <option value={FOUND}>The one that the node serves</option>}
        {chains.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
        <option value={OTHER}>Other chain</option>
      </SelectField>
      {choice === OTHER && (
        <TextField
          label="Chain ID"
          mono
          placeholder="0x1"
          help={`E.g. ${Object.values(CHAIN_PAGES)
            .map(({ example }) => example)
            .join(' or ')}.`}
          error={problem}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
      )}
    </>
  );
  return (
    <Dialog title="Add node" onClose={onClose}>
      {canAdd === true && (
        <UrlForm
          sent={choice === FOUND ? { url } : { chainId, url }}
          onUrl={(next) => setUrl(next.trim())}
          ready={(choice === FOUND || chainId !== '') && url !== ''}
          help="May contain a key. The URL is stored encrypted, and only its host is shown."
          action="Add node"
          failed="Couldn't add the node"
          test={(node) => sluice.testNode(node)}
          add={async (node) => {
            const added = await sluice.addNode(node);
            const chain = chains.find(({ id }) => id === added.chainId);
            showToast({ text: `Node of ${chain?.name ?? added.chainId} added` });
            await queryClient.invalidateQueries({ queryKey: queryKeys.chains });
            onAdded(added.chainId);
            onClose();
          }}
          renderFields={(problemAt) => renderChain(problemAt('chainId'))}
        />
      )}
      {canAdd === false && (
        <div className="grid gap-3">
          <TextField
            label="Node URL"
            mono
            placeholder="https://…"
            help="May contain a key. The URL stays in this browser."
            value={url}
            onChange={(event) => setUrl(event.target.value)}
          />
          {renderChain()}
          <NodeFlag flag={toNodeFlag(chainId || '0x1', url.trim() || 'https://…')} />
        </div>
      )}
    </Dialog>
  );
}

function NodeFlag({ flag }: { flag: string }) {
  return (
    <>
      <p className="text-muted">
        Nodes are configured when the service starts. Stop the service, add this flag to its command
        and restart it. The service resumes where it stopped. To add nodes here, start the service
        with --allow-node-changes.
      </p>
      <p className="flex min-w-0 items-center gap-1">
        <code className="data min-w-0 break-all">{flag}</code>
        <CopyButton text={flag} label="Copy flag" iconOnly />
      </p>
    </>
  );
}
