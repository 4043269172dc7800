import { familyOf, parseAddressList } from '@sluice/kit/contract';
import type { NetworkType } from '@sluice/kit';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { LIST_FILES, namesIn, withAddressOf } from './draft/addressList.ts';
import { contractQuery, nameQuery } from '../../data/queries/chains.ts';
import { describeContract } from '../../words/contractWords.ts';
import type { DraftField } from './draft/problems.ts';
import type { StreamDraft } from './draft/draft.ts';
import { exampleOf } from './draft/examples.ts';
import { formatCount, formatHash, formatQuantity } from '../../ui/text/format.ts';
import { toNodeFlag } from '../../words/nodeFlag.ts';
import { recognize, toAddress } from '../../words/paste.ts';
import type { Refusals } from './draft/refusals.ts';
import { useDebounced } from '../../ui/form/debounced.ts';
import type { WatchedChain } from '../../chains/timeline.ts';
import { Button } from '../../ui/button.tsx';
import { DropZone } from '../../ui/form/dropZone.tsx';
import { Check, FileField } from '../../ui/form/field.tsx';
import { LineArea } from '../../ui/form/lineArea.tsx';
import { Segments } from '../../ui/form/segments.tsx';
import { DoubtfulAddresses } from './doubtfulAddresses.tsx';

/**
 * Maximum number of lines of a file that is loaded into the field, because the field is parsed on
 * each keystroke.
 */
const MAX_LINES = 2_000;
/** Maximum number of ENS names that are resolved at once. */
const MAX_NAMES = 5;

export interface PartProps {
  draft: StreamDraft;
  problems: Partial<Record<DraftField, string>>;
  /** Validation errors from the service's last response. */
  refusals: Refusals;
  onChange: (draft: StreamDraft) => void;
}

const FAMILIES: { value: NetworkType; label: string }[] = [
  { value: 'evm', label: 'EVM' },
  { value: 'aptos', label: 'Aptos' },
];

/** Returns the id of the chain in the fields of a stream, where Aptos networks have no prefix. */
const nameInStream = ({ id }: WatchedChain): string => id.replace(/^aptos:/, '');

/**
 * Returns the first chain of a family as the initial selection, because most services follow only
 * one; empty if there is none.
 */
export const firstChains = (chains: readonly WatchedChain[], family: NetworkType): string[] =>
  chains
    .filter((chain) => familyOf(chain.id) === family)
    .slice(0, 1)
    .map(nameInStream);

export function ChainChoice({
  draft,
  problems,
  onChange,
  chains,
}: PartProps & { chains: readonly WatchedChain[] }) {
  const offered = chains.filter((chain) => familyOf(chain.id) === draft.family);
  // A stream may have chains that this service does not follow.
  const others = draft.chains.filter((id) => !offered.some((chain) => nameInStream(chain) === id));
  const toggle = (id: string, on: boolean): void =>
    onChange({
      ...draft,
      chains: on ? [...draft.chains, id] : draft.chains.filter((each) => each !== id),
    });
  return (
    <fieldset>
      <legend className="mb-1 text-12 text-muted">Chains</legend>
      <div className="flex flex-wrap gap-x-4">
        {offered.map((chain) => (
          <Check
            key={chain.id}
            label={chain.name}
            checked={draft.chains.includes(nameInStream(chain))}
            onChange={(event) => toggle(nameInStream(chain), event.target.checked)}
          />
        ))}
        {others.map((id) => (
          <Check
            key={id}
            label={<span className="data">{id}</span>}
            help="not read by this service"
            checked
            onChange={() => toggle(id, false)}
          />
        ))}
      </div>
      {offered.length === 0 && (
        <p className="text-warn">
          No chains of this family yet. Start the service with one:{' '}
          <code className="data">
            sluice serve{' '}
            {toNodeFlag(draft.family === 'aptos' ? 'aptos:mainnet' : '0x1', 'https://…')}
          </code>
        </p>
      )}
      {problems.chains !== undefined && <p className="text-12 text-bad">{problems.chains}</p>}
    </fieldset>
  );
}

/** Selects whether the stream watches all addresses. */
export function AllAddresses({ draft, onChange }: Pick<PartProps, 'draft' | 'onChange'>) {
  return (
    <Check
      label={
        draft.allAddresses ? <span className="text-warn">! All addresses</span> : 'All addresses'
      }
      help={
        draft.family === 'evm'
          ? 'every contract that emits the event'
          : 'every transaction with the function or event'
      }
      checked={draft.allAddresses}
      onChange={(event) => onChange({ ...draft, allAddresses: event.target.checked })}
    />
  );
}

/** Edits the addresses and chains that a new stream watches. */
export function WatchPart(props: PartProps & { chains: readonly WatchedChain[] }) {
  const { draft, problems, onChange, chains } = props;
  const list = parseAddressList(draft.addresses, draft.family);
  const written = draft.addresses.trim();
  const [tooLong, setTooLong] = useState<string>();
  const change = (addresses: string): void => {
    setTooLong(undefined);
    onChange({ ...draft, addresses });
  };
  const readFile = async (file: File): Promise<void> => {
    const text = (await file.text()).trim();
    const lines = text.split('\n').length;
    if (lines <= MAX_LINES) change(text);
    else {
      setTooLong(
        `${file.name} has ${formatCount(lines)} lines; the limit here is ${formatCount(MAX_LINES)}. Create the stream first, then import the file.`,
      );
    }
  };
  const isUnknownId = written !== '' && list.rows.length === 0 && list.rejects.length === 0;
  /**
   * Inserts a pasted address, or the address in a pasted explorer URL, at the start of a line. The
   * first address sets the chain family.
   */
  const onPaste = (event: React.ClipboardEvent<HTMLTextAreaElement>): void => {
    const one = toAddress(recognize(event.clipboardData.getData('text')));
    if (one === undefined) return;
    const { family, address } = one;
    const isOther = family !== draft.family;
    if (isOther && (written !== '' || firstChains(chains, family).length === 0)) return;
    event.preventDefault();
    const { value, selectionStart, selectionEnd } = event.currentTarget;
    const before = value.slice(0, selectionStart);
    const isLineBegun = before !== '' && !before.endsWith('\n');
    onChange({
      ...draft,
      family,
      chains: isOther ? firstChains(chains, family) : draft.chains,
      addresses: `${before}${isLineBegun ? '\n' : ''}${address}${value.slice(selectionEnd)}`,
    });
  };
  return (
    <div className="grid gap-3">
      <Segments
        label="Family"
        options={FAMILIES}
        value={draft.family}
        onChange={(family) => onChange({ ...draft, family, chains: firstChains(chains, family) })}
      />
      {!draft.allAddresses && (
        <DropZone onFile={(file) => void readFile(file)}>
          <LineArea
            label="Addresses"
            data-field="addresses"
            placeholder={
              draft.family === 'evm'
                ? '0xdAC17F958D2ee523a2206206994597C13D831ec7, tether'
                : '0x1, framework'
            }
            help={
              list.rows.length === 0
                ? 'One per line, with an optional label.'
                : list.duplicates === 0
                  ? formatQuantity(list.rows.length, 'address', 'addresses')
                  : `${formatQuantity(list.rows.length, 'address', 'addresses')}, ${formatQuantity(list.duplicates, 'duplicate')} skipped`
            }
            error={
              list.rejects.length > 0
                ? undefined
                : isUnknownId
                  ? 'No addresses found.'
                  : problems.addresses
            }
            problems={list.rejects.map(({ line, reason }) => ({
              line,
              column: 1,
              message: `${reason}.`,
            }))}
            value={draft.addresses}
            onPaste={onPaste}
            onChange={change}
          />
          <DoubtfulAddresses doubts={list.doubts} />
          {draft.family === 'evm' && (
            <Names
              names={namesIn(list.rejects)}
              onResolved={(name, address) => change(withAddressOf(draft.addresses, name, address))}
            />
          )}
          {draft.family === 'evm' && list.rows.length === 1 && (
            <AtAddress draft={draft} chains={chains} address={list.rows[0]?.address ?? ''} />
          )}
          <div className="mt-1 -ml-2.5 flex flex-wrap items-center gap-x-3">
            <FileField
              variant="quiet"
              label="Choose CSV file"
              accept={LIST_FILES}
              onFile={(file) => void readFile(file)}
            />
            {tooLong !== undefined && (
              <p role="alert" className="pl-2.5 text-12 text-bad">
                {tooLong}
              </p>
            )}
          </div>
        </DropZone>
      )}
      <Examples {...props} rows={list.rows} />
      <AllAddresses {...props} />
      <ChainChoice {...props} />
    </div>
  );
}

/**
 * Resolves ENS names, and offers to watch their addresses. The stream keeps the address, even if
 * the name changes later.
 */
function Names({
  names,
  onResolved,
}: {
  names: readonly string[];
  onResolved: (name: string, address: string) => void;
}) {
  const typed = names.slice(0, MAX_NAMES).join('\n');
  const rested = useDebounced(typed);
  if (typed === '' || rested === '') return null;
  return (
    <ul className="mt-1 grid gap-1 text-12">
      {rested.split('\n').map((name) => (
        <Name key={name} name={name} onResolved={(address) => onResolved(name, address)} />
      ))}
    </ul>
  );
}

function Name({ name, onResolved }: { name: string; onResolved: (address: string) => void }) {
  const { data, error } = useQuery(nameQuery(name));
  return (
    <li className="flex flex-wrap items-center gap-x-2 text-muted">
      {data === undefined ? (
        (error?.message ?? `Looking up ${name}`)
      ) : (
        <>
          <span className="min-w-0 wrap-anywhere">{name} →</span>
          <span className="data" title={data.address}>
            {formatHash(data.address)}
          </span>
          <Button onClick={() => onResolved(data.address)}>Watch this address</Button>
        </>
      )}
    </li>
  );
}

/**
 * Describes the contract at a single EVM address, so that users can check that it is the right one.
 */
function AtAddress({
  draft,
  chains,
  address,
}: Pick<PartProps, 'draft'> & { chains: readonly WatchedChain[]; address: string }) {
  const chain = chains.find(({ id }) => draft.chains.includes(id));
  const { data } = useQuery({
    ...contractQuery(chain?.id ?? '', address),
    enabled: chain !== undefined,
  });
  if (data === undefined || chain === undefined) return null;
  return <p className="text-12 text-muted">{describeContract(data, chain.name)}</p>;
}

/**
 * Offers an example for each selected chain that has one, until the user enters a different
 * address.
 */
function Examples({
  draft,
  onChange,
  chains,
  rows,
}: PartProps & {
  chains: readonly WatchedChain[];
  rows: readonly { address: string }[];
}) {
  const chosen = chains.filter(
    (chain) => familyOf(chain.id) === draft.family && draft.chains.includes(nameInStream(chain)),
  );
  const examples = chosen.flatMap((chain) => {
    const example = exampleOf(draft.family, nameInStream(chain));
    return example === null ? [] : [{ chain, example }];
  });
  const written = rows.map(({ address }) => address.toLowerCase());
  const isWritten = (address: string | null): boolean =>
    address !== null && written.includes(address.toLowerCase());
  const left = examples.filter(({ example }) => !isWritten(example.address));
  const areExamples = written.length + left.length === examples.length;
  if (draft.allAddresses || left.length === 0 || !areExamples) return null;
  if (written.length === 0 && draft.addresses.trim() !== '') return null;
  return (
    <p className="-mt-1 flex flex-wrap items-center gap-2 text-12 text-muted">
      For example
      {left.map(({ chain, example }) => (
        <Button key={chain.id} onClick={() => onChange(example.add(draft))}>
          {example.name} on {chain.name}
        </Button>
      ))}
    </p>
  );
}
