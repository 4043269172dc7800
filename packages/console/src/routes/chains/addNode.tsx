import { useState } from 'react';
import { toNodeFlag } from '../../words/nodeFlag.ts';
import type { WatchedChain } from '../../chains/timeline.ts';
import { CopyButton } from '../../ui/text/copyButton.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Select, TextField } from '../../ui/form/field.tsx';

/** Composes the flag that adds a node. Nodes are configured when the service starts. */
export function AddNode({
  chains,
  onClose,
}: {
  chains: readonly WatchedChain[];
  onClose: () => void;
}) {
  const [chosen, setChosen] = useState(chains[0]?.id ?? '');
  const [typed, setTyped] = useState('');
  const [url, setUrl] = useState('');
  const flag = toNodeFlag(chosen || typed.trim() || '0x1', url.trim() || 'https://…');
  return (
    <Dialog title="Add node" onClose={onClose}>
      <div className="grid gap-3">
        {chains.length > 0 && (
          <label className="block">
            <span className="mb-1 block text-12 text-muted">Chain</span>
            <Select value={chosen} onChange={(event) => setChosen(event.target.value)}>
              {chains.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
              <option value="">Other chain</option>
            </Select>
          </label>
        )}
        {chosen === '' && (
          <TextField
            label="Chain ID"
            mono
            placeholder="0x1"
            help="Hex, e.g. 0x1, or aptos:mainnet."
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
        )}
        <TextField
          label="Node URL"
          mono
          placeholder="https://…"
          help="May contain a key. It stays in this browser."
          value={url}
          onChange={(event) => setUrl(event.target.value)}
        />
        <p className="text-muted">
          Nodes are configured when the service starts. Stop the service, add this flag to its
          command and restart it. It resumes where it stopped.
        </p>
        <p className="flex min-w-0 items-center gap-1">
          <code className="data min-w-0 break-all">{flag}</code>
          <CopyButton text={flag} label="Copy flag" iconOnly />
        </p>
      </div>
    </Dialog>
  );
}
