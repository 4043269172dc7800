/** Examples of components in each of their states. */
import { Pause, RotateCw } from 'lucide-react';
import { useRef, useState } from 'react';
import { Breadcrumb } from '../src/ui/breadcrumb.tsx';
import { Button, Keycap } from '../src/ui/button.tsx';
import { Sparkline } from '../src/ui/chart/sparkline.tsx';
import { TimeChart, type ChartSeries } from '../src/ui/chart/timeChart.tsx';
import { DropZone } from '../src/ui/form/dropZone.tsx';
import { EntryList, RemoveEntry } from '../src/ui/form/entryList.tsx';
import { Check, FileField, SelectField, TextArea, TextField } from '../src/ui/form/field.tsx';
import { LineArea } from '../src/ui/form/lineArea.tsx';
import { OverlapField } from '../src/ui/form/overlapField.tsx';
import { PeriodField } from '../src/ui/form/period/periodField.tsx';
import { SearchField } from '../src/ui/form/searchField.tsx';
import { Segments } from '../src/ui/form/segments.tsx';
import { TimeField } from '../src/ui/form/timeField.tsx';
import { HeatMapView } from '../src/routes/heatMap/heatMapView.tsx';
import { toHeatMap } from '../src/routes/heatMap/heatMap.ts';
import { RowMark } from '../src/ui/list/rowMarks.tsx';
import { Status, type Condition } from '../src/ui/status.tsx';
import { TaskStrip, type Tasks } from '../src/ui/task.tsx';
import { Command } from '../src/ui/text/command.tsx';
import { CopyButton } from '../src/ui/text/copyButton.tsx';
import { Hash } from '../src/ui/text/hash.tsx';
import { Snippets } from '../src/ui/text/snippets.tsx';
import { Ago, DateTime } from '../src/ui/text/time.tsx';
import { Term } from '../src/ui/tips/term.tsx';

const HOUR_MS = 3_600_000;
const ADDRESS = '0x28c6c06298d514db089934071355e5743bf21d60';
const NOW = Date.now();
const SINCE = { from: Date.UTC(2026, 10, 5, 9, 4) };
const WEEK = { from: Date.UTC(2026, 10, 1), until: Date.UTC(2026, 10, 8) - 1 };
const nothing = (): void => {};

const Row = ({ children }: { children: React.ReactNode }) => (
  <div className="flex flex-wrap items-center gap-3">{children}</div>
);

const CONDITIONS: readonly Condition[] = [
  { shape: 'disc', word: 'delivered', tone: 'ok' },
  { shape: 'ring', word: 'pending', tone: 'muted' },
  { shape: 'dashed', word: 'retrying', tone: 'warn' },
  { shape: 'half', word: 'unconfirmed', tone: 'info' },
  { shape: 'triangle', word: 'failed', tone: 'bad' },
  { shape: 'bars', word: 'paused', tone: 'muted' },
  { shape: 'cross', word: 'reorged', tone: 'reorg' },
  { shape: 'exclamation', word: 'quarantined', tone: 'bad' },
];

function Buttons() {
  const icon = <RotateCw size={14} strokeWidth={1.5} aria-hidden="true" />;
  return (
    <div className="grid gap-3">
      {(['primary', 'plain', 'danger', 'quiet'] as const).map((variant) => (
        <Row key={variant}>
          <Button variant={variant}>Replay</Button>
          <Button variant={variant}>
            {icon}
            Replay…
            <Keycap>r</Keycap>
          </Button>
          <Button variant={variant} square aria-label={`Replay, ${variant}`}>
            {icon}
          </Button>
          <Button variant={variant} disabled>
            Disabled
          </Button>
        </Row>
      ))}
      <Row>
        <CopyButton text={ADDRESS} label="Copy address" />
        <CopyButton text={ADDRESS} label="Copy link" icon="link" keycap="y" />
        <CopyButton text={ADDRESS} label="Copy as curl" icon="code" iconOnly />
        <FileField label="Choose CSV file" accept=".csv" onFile={nothing} />
      </Row>
      <Segments
        label="Period"
        options={[
          { value: 'hour', label: 'Hour' },
          { value: 'day', label: 'Day' },
          { value: 'week', label: 'Week' },
        ]}
        value="day"
        onChange={nothing}
      />
    </div>
  );
}

function Fields() {
  const search = useRef<HTMLInputElement>(null);
  return (
    <div className="grid grid-cols-2 items-start gap-x-6 gap-y-3">
      <TextField label="Name" defaultValue="payments" help="Up to 64 characters." />
      <TextField label="Webhook URL" mono placeholder="https://…" error="Enter a webhook URL." />
      <TextField label="Disabled" defaultValue="0x1" disabled />
      <SelectField label="Network" defaultValue="eth">
        <option value="eth">Ethereum</option>
      </SelectField>
      <SelectField label="Destination" error="Choose a destination." defaultValue="none">
        <option value="none">None</option>
      </SelectField>
      <TextArea label="Allowed networks" rows={2} help="One per line." placeholder="10.0.0.0/8" />
      <div>
        <Check label="Native transfers" help="also failed ones" defaultChecked />
        <Check label="Internal transfers" />
        <Check label="Not available on this chain" disabled />
      </div>
      <OverlapField label="Overlap" seconds={86_400} onChange={nothing} />
      <SearchField ref={search} label="Filter streams" value="" onChange={nothing} />
      <SearchField ref={search} label="Filter streams" value="usdc" onChange={nothing} />
    </div>
  );
}

function Lists() {
  return (
    <div className="grid gap-3">
      <LineArea
        label="Addresses"
        help="One per line."
        problems={[{ line: 2, column: 1, message: 'An address has 40 hex digits.' }]}
        value={`${ADDRESS}\n0x28c6\n`}
        onChange={nothing}
      />
      <EntryList legend="Reads" help="Called at each match." addLabel="Add read" onAdd={nothing}>
        <Row>
          <span className="data">balanceOf(address)</span>
          <RemoveEntry label="Remove balanceOf" onClick={nothing} />
        </Row>
      </EntryList>
      <DropZone onFile={nothing} className="p-2">
        <span className="text-muted">Drop a CSV file here.</span>
      </DropZone>
      <div className="relative h-8 pl-8">
        <span className="mark-cell">
          <RowMark id="a" label="payments" marked onMark={nothing} />
        </span>
        A selected row
      </div>
    </div>
  );
}

function Times() {
  const [text, setText] = useState('2026-11-05 09:04');
  return (
    <div className="grid gap-3">
      <Row>
        <PeriodField label="Created in" empty="Any time" value={{}} onChange={nothing} />
        <PeriodField label="Created in" empty="Any time" value={SINCE} onChange={nothing} />
        <PeriodField label="Created in" empty="Any time" value={WEEK} onChange={nothing} />
      </Row>
      <div className="grid grid-cols-2 gap-6">
        <TimeField label="From" text={text} onText={setText} />
        <TimeField
          label="To"
          text="2026-11-05"
          error="The end is before the start."
          onText={nothing}
        />
      </div>
      <Row>
        <Ago timeMs={NOW - 3 * HOUR_MS} />
        <DateTime timeMs={NOW - 3 * HOUR_MS} />
      </Row>
    </div>
  );
}

function Texts() {
  return (
    <div className="grid gap-3">
      <Breadcrumb to="/replays" title="Replays" here="after the fix" />
      <Row>
        <Hash value={`${ADDRESS}000000000000000000000000`} name="transaction hash" />
        <Term tip="Deliveries that were read and are not acknowledged yet">Leased</Term>
        <span data-cut className="w-40 truncate">
          A name that is too long for its column
        </span>
      </Row>
      <div className="flex rounded-control border border-line">
        <Command label="Follow a stream" text="sluice listen 3000 --stream payments" />
      </div>
      <div className="flex rounded-control border border-line">
        <Snippets
          snippets={{ curl: 'curl -X POST http://127.0.0.1:4400/streams', TypeScript: '' }}
        />
      </div>
    </div>
  );
}

function States() {
  const shown = (more: Partial<NonNullable<Tasks['shown']>>): Tasks => ({
    shown: {
      task: {
        doing: 'Removing addresses',
        total: 4_000,
        work: () => Promise.resolve(),
        did: (done) => `${done} addresses removed.`,
        undo: () => ({ doing: 'Adding addresses', work: () => Promise.resolve() }),
      },
      state: 'running',
      done: 1_200,
      reason: '',
      ...more,
    },
    start: nothing,
    show: nothing,
    stop: nothing,
    dismiss: nothing,
  });
  return (
    <div className="grid gap-3">
      <div className="grid grid-cols-4 gap-2">
        {CONDITIONS.map((condition) => (
          <Status key={condition.word} condition={condition} />
        ))}
      </div>
      <TaskStrip tasks={shown({})} />
      <TaskStrip tasks={shown({ state: 'done', done: 4_000 })} />
      <TaskStrip tasks={shown({ state: 'stopped', reason: 'The service is unreachable.' })} />
      <Row>
        <Pause size={14} strokeWidth={1.5} aria-hidden="true" />
        <Keycap>Ctrl K</Keycap>
      </Row>
    </div>
  );
}

const WAVE = Array.from({ length: 48 }, (_, index) => Math.round(60 + 40 * Math.sin(index / 4)));

const STEPS = 96;
const RESPONSE_TIMES = toHeatMap(
  {
    stepMinutes: 5,
    from: WEEK.from,
    points: STEPS,
    isPartial: false,
    p50Ms: 150,
    p95Ms: 700,
    rows: [
      ...[51, 71, 101, 151, 201, 301].map((fromMs, row) => ({
        result: 'succeeded' as const,
        fromMs,
        toMs: null,
        attempts: Array.from({ length: STEPS }, (_, n) => ((n * 7 + row * 13) % 11) ** row),
      })),
      {
        result: '5xx',
        fromMs: 0,
        toMs: null,
        attempts: Array.from({ length: STEPS }, (_, n) => (n > 60 && n < 80 ? n * 40 : 0)),
      },
    ],
  },
  STEPS,
);

function HeatMap() {
  return (
    <>
      <HeatMapView map={RESPONSE_TIMES} width={640} describedBy="keys" onOpen={nothing} />
      <p id="keys" className="text-12 text-faint">
        Arrow keys move, Shift selects a part.
      </p>
    </>
  );
}

function Charts() {
  const series = (label: string, variant: ChartSeries['variant'], by: number): ChartSeries => ({
    label,
    variant,
    color: variant === 'line' ? 'var(--color-text)' : 'var(--color-muted)',
    values: WAVE.map((value) => value * by),
  });
  const common = {
    unit: 'per 5 min',
    format: String,
    cursor: null,
    ticks: [
      { place: 0.25, label: '10:00' },
      { place: 0.75, label: '11:00' },
    ],
    isPartial: true,
  };
  return (
    <div className="grid gap-5">
      <Row>
        <Sparkline values={WAVE.slice(0, 24)} label="Deliveries per hour" />
        <Sparkline values={[0, 0, 0]} label="No deliveries" />
      </Row>
      <TimeChart
        {...common}
        title="Deliveries"
        summary="Deliveries of a day"
        series={[series('before', 'earlier', 0.8), series('delivered', 'line', 1)]}
        changes={[12]}
        bad={[30, 31]}
      />
      <TimeChart
        {...common}
        title="Response time"
        summary="Response times of a day"
        series={[series('p95', 'band', 1.3), series('p50', 'line', 0.7)]}
        changes={[]}
      />
      <TimeChart
        {...common}
        title="Retries"
        summary="No retries"
        series={[]}
        changes={[]}
        instead="no data yet"
      />
    </div>
  );
}

export const SECTIONS: Readonly<Record<string, React.ComponentType>> = {
  buttons: Buttons,
  fields: Fields,
  lists: Lists,
  times: Times,
  texts: Texts,
  states: States,
  charts: Charts,
  heat: HeatMap,
};
