import { useState } from 'react';
import { toNodeFlag } from '../../words/nodeFlag.ts';
import type { WatchedChain } from '../../chains/tape.ts';
import { CopyButton } from '../../ui/text/copyButton.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Select, TextField } from '../../ui/form/field.tsx';

/** Chains and their nodes are named where the service starts: here is the flag that does it. */
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
    <Dialog title="Add a node" onClose={onClose}>
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
              <option value="">Another</option>
            </Select>
          </label>
        )}
        {chosen === '' && (
          <TextField
            label="Chain id"
            mono
            placeholder="0x1"
            help="In hex as nodes tell it, or aptos:mainnet."
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
        )}
        <TextField
          label="URL of the node"
          mono
          placeholder="https://…"
          help="It stays in this browser: often it holds a key."
          value={url}
          onChange={(event) => setUrl(event.target.value)}
        />
        <p className="text-muted">
          Nodes are named when the service starts. Stop it, add this to its command, and start it
          again: it goes on where it was.
        </p>
        <p className="flex min-w-0 items-center gap-1">
          <code className="data min-w-0 break-all">{flag}</code>
          <CopyButton text={flag} label="Copy flag" iconOnly />
        </p>
      </div>
    </Dialog>
  );
}
