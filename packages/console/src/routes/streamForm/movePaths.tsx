import type { SeenMovePath } from '@sluice/kit/sluice';
import { useMemo } from 'react';
import { movePathProblems } from './draft/problems.ts';
import { formatHash } from '../../ui/text/format.ts';
import { countPaths, withoutPath, withPath, type PathCount } from './dryRun/seenPaths.ts';
import { LineArea } from '../../ui/form/lineArea.tsx';
import { SeenList, SeenRow, SHOWN_SEEN } from './dryRun/seenList.tsx';
import { useSharedDryRun } from './dryRun/sharedDryRun.tsx';
import type { PartProps } from './watchPart.tsx';

/** Which functions and which events of Aptos: as text, or from those that the addresses had. */
export function MovePaths({ draft, problems, onChange }: PartProps) {
  const { functions, moveEvents, allAddresses } = draft;
  const [hasFunctions, hasEvents] = [functions, moveEvents].map((text) => text.trim() !== '');
  return (
    <>
      <Paths
        kind="function"
        label="Functions"
        placeholder="0x1::aptos_account::transfer"
        help="Entry functions as Move paths, one to a line."
        error={problems.functions}
        value={functions}
        onChange={(next) => onChange({ ...draft, functions: next })}
      />
      <Paths
        kind="event"
        label="Move events"
        placeholder="0x1::fungible_asset::Withdraw"
        help="Types as Move paths; one without generic arguments stands for all of its kind."
        error={problems.moveEvents}
        value={moveEvents}
        onChange={(next) => onChange({ ...draft, moveEvents: next })}
      />
      {!allAddresses && !hasFunctions && !hasEvents && (
        <p className="text-12 text-faint">
          With no function and no event chosen, all transactions of the addresses are sent.
        </p>
      )}
      {hasFunctions && hasEvents && (
        <p className="text-12 text-faint">
          Sent are transactions that call one of the functions or have one of the events.
        </p>
      )}
    </>
  );
}

/** Of a line the problem stands at the line; what the field lacks altogether, beneath it. */
function Paths({
  kind,
  error,
  value,
  onChange,
  ...props
}: { kind: SeenMovePath['kind'] } & Omit<React.ComponentProps<typeof LineArea>, 'problems'>) {
  const { seen } = useSharedDryRun();
  const problems = movePathProblems(value);
  const { listed, offered } = useMemo(() => countPaths(seen, kind, value), [seen, kind, value]);
  const rows = (paths: readonly PathCount[], checked: boolean) =>
    paths.map(({ path, count }) => (
      <SeenRow
        key={path}
        name={<PathName path={path} />}
        count={count}
        asked={seen.blocks.size}
        checked={checked}
        onChange={(isChecked) => onChange((isChecked ? withPath : withoutPath)(value, path))}
      />
    ));
  return (
    <fieldset aria-label={props.label} className="min-w-0">
      <LineArea
        error={problems.length === 0 ? error : undefined}
        problems={problems}
        value={value}
        onChange={onChange}
        {...props}
      />
      <SeenList
        chosen={rows(listed.slice(0, SHOWN_SEEN), true)}
        // Of a long text the rest is behind what is offered.
        offered={[...rows(offered, false), ...rows(listed.slice(SHOWN_SEEN), true)]}
      />
    </fieldset>
  );
}

/** What tells paths apart is how they end. */
function PathName({ path }: { path: string }) {
  const [, address = '', name = path, generics = ''] = /^(0x\w+::)([^<]+)(<.*)?$/.exec(path) ?? [];
  return (
    <span className="data min-w-0 break-all" title={path}>
      <span className="text-faint">{shorten(address)}</span>
      {name}
      {generics !== '' && <span className="text-faint">{shorten(generics)}</span>}
    </span>
  );
}

const shorten = (text: string): string =>
  text.replace(/0x[0-9a-f]+/g, (address) => formatHash(address));
