import {
  CHAIN_FAMILIES,
  FAMILY_TITLES,
  familyOf,
  nameOfChain,
  toNodeFlag,
} from '@sluice/kit/contract';
import { type AddressList, parseAddressList } from '@sluice/kit/operator';
import type { NetworkType } from '@sluice/kit';
import { CHAIN_PAGES } from '../../families/chains.ts';
import { DRAFT_FAMILIES } from '../../families/draftFamilies.ts';
import { FORM_PARTS } from '../../families/formParts.ts';
import { FORM_WORDS } from '../../families/formWords.ts';
import { LIST_FILES } from './draft/addressList.ts';
import { formatQuantity } from '../../ui/text/format.ts';
import { recognize, toAddress } from '../../words/paste.ts';
import type { WatchedChain } from '../../chains/timeline.ts';
import { Button } from '../../ui/button.tsx';
import { DropZone } from '../../ui/form/dropZone.tsx';
import { Check, FileField } from '../../ui/form/field.tsx';
import { LineArea } from '../../ui/form/lineArea.tsx';
import { Segments } from '../../ui/form/segments.tsx';
import { AddChain } from './addChain.tsx';
import { AddressVerdict } from './addressVerdict.tsx';
import { DoubtfulAddresses } from './doubtfulAddresses.tsx';
import type { PartProps } from './partProps.ts';

/**
 * Maximum number of lines of a file that is loaded into the field, because the field is parsed on
 * each keystroke. A longer file is shown below the field.
 */
const MAX_LINES = 2_000;
const FAMILIES = CHAIN_FAMILIES.map((family) => ({
  value: family,
  label: FAMILY_TITLES[family],
}));

const nameInStream = ({ id }: WatchedChain): string => nameOfChain(id);

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
            sluice serve {toNodeFlag(CHAIN_PAGES[draft.family].example, 'https://…')}
          </code>
        </p>
      )}
      {problems.chains !== undefined && <p className="text-12 text-bad">{problems.chains}</p>}
      <AddChain draft={draft} chains={chains} onChange={onChange} />
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
      help={FORM_WORDS[draft.family].allAddresses}
      checked={draft.allAddresses}
      onChange={(event) => onChange({ ...draft, allAddresses: event.target.checked })}
    />
  );
}

/** A file with more addresses than the field shows. */
export interface AddressFile {
  name: string;
  text: string;
}

/** Edits the addresses and chains that a new stream watches. */
export function WatchPart(
  props: PartProps & {
    chains: readonly WatchedChain[];
    file: AddressFile | undefined;
    /** The addresses of the file; null while they are read. */
    fileList: AddressList | null;
    onFile: (file: AddressFile | undefined) => void;
  },
) {
  const { draft, problems, onChange, chains, file, fileList, onFile } = props;
  const list = parseAddressList(draft.addresses, draft.family);
  const written = draft.addresses.trim();
  const change = (addresses: string): void => onChange({ ...draft, addresses });
  const readFile = async (chosen: File): Promise<void> => {
    const text = (await chosen.text()).trim();
    if (text.split('\n').length <= MAX_LINES) change(text);
    else onFile({ name: chosen.name, text });
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
  const { AddressHints } = FORM_PARTS[draft.family];
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
            placeholder={FORM_WORDS[draft.family].addressLine}
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
          <AddressHints draft={draft} chains={chains} list={list} onChange={onChange} />
          <div className="mt-1 -ml-2.5 flex flex-wrap items-center gap-x-3">
            <FileField
              variant="quiet"
              label="Choose CSV file"
              accept={LIST_FILES}
              onFile={(file) => void readFile(file)}
            />
          </div>
          {file !== undefined && (
            <div className="mt-2 border-l-2 border-line-strong pl-2.5">
              <p className="flex min-w-0 flex-wrap items-center gap-x-3">
                <span className="data min-w-0 break-all">{file.name}</span>
                <Button variant="quiet" onClick={() => onFile(undefined)}>
                  Remove file
                </Button>
              </p>
              {fileList === null ? (
                <p className="text-muted">Reading…</p>
              ) : (
                <AddressVerdict list={fileList} />
              )}
            </div>
          )}
        </DropZone>
      )}
      <Examples {...props} rows={list.rows} />
      <AllAddresses {...props} />
      <ChainChoice {...props} />
    </div>
  );
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
    const example = DRAFT_FAMILIES[draft.family].findExample(nameInStream(chain));
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
