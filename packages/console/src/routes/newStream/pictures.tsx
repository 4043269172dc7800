/** Drawings of what a recipe's stream watches. The part that the stream sends has the accent. */

const FAINT = 'text-faint';
const SENT = 'text-accent';

/** A box such as a contract, a message or a cell. */
const Box = ({ at: [x, y], size = 8, className = FAINT }: BoxProps) => (
  <rect x={x} y={y} width={size} height={size} rx="1.5" className={className} />
);
interface BoxProps {
  at: readonly [number, number];
  /** Width and height. */
  size?: number;
  className?: string;
}

/** An arrow to the right, which ends at `to`. */
const Arrow = ({ from, to, y = 18, className = FAINT }: ArrowProps) => (
  <path d={`M${from} ${y}H${to}m-4-4 4 4-4 4`} className={className} />
);
interface ArrowProps {
  from: number;
  to: number;
  y?: number;
  className?: string;
}

const Account = ({ x, className = FAINT }: { x: number; className?: string }) => (
  <circle cx={x} cy="18" r="6" className={className} />
);

/** Heights of the bars of amounts, from left to right. */
const AMOUNTS = [9, 14, 6, 26, 11, 8, 22, 12, 7, 28, 10];
const THRESHOLD_HEIGHT = 18;

const PICTURES = {
  account: (
    <>
      <Arrow from={8} to={34} y={13} />
      <Account x={48} className={SENT} />
      <Arrow from={62} to={88} y={23} />
    </>
  ),
  transfers: (
    <>
      <Account x={12} />
      <Arrow from={22} to={74} className={SENT} />
      <Account x={84} />
    </>
  ),
  amounts: (
    <>
      {AMOUNTS.map((height, index) => (
        <path
          key={index}
          d={`M${8 + index * 8} 33v-${height}`}
          strokeWidth="3"
          className={height > THRESHOLD_HEIGHT ? SENT : FAINT}
        />
      ))}
      <path d={`M2 ${33 - THRESHOLD_HEIGHT}H94`} strokeDasharray="2 3" className="text-muted" />
    </>
  ),
  logs: (
    <>
      <Box at={[8, 8]} size={20} />
      <path d="M40 10H84M40 26H72" className={FAINT} />
      <path d="M40 18H90" strokeWidth="2.5" className={SENT} />
    </>
  ),
  call: (
    <>
      <path d="M14 8q-6 10 0 20M38 8q6 10 0 20" className={SENT} />
      <path d="M20 18h2m4 0h2m4 0h0" strokeWidth="2.5" className={SENT} />
      <Arrow from={48} to={66} />
      <Box at={[70, 8]} size={20} />
    </>
  ),
  failure: (
    <>
      <Account x={12} />
      <path d="M22 18H50M58 18H66" className={FAINT} />
      <path d="m50 14 8 8m0-8-8 8" strokeWidth="2" className="text-bad" />
      <Box at={[70, 8]} size={20} />
    </>
  ),
  mint: (
    <>
      <circle cx="12" cy="18" r="6" strokeDasharray="2 2.7" className={FAINT} />
      <Arrow from={22} to={54} />
      <Box at={[62, 8]} size={16} />
      <Box at={[70, 14]} size={16} className={SENT} />
    </>
  ),
  children: (
    <>
      <Box at={[8, 11]} size={14} />
      <path d="M24 18H68M24 18C44 18 44 6 68 6M24 18C44 18 44 30 68 30" className={FAINT} />
      {[2, 14, 26].map((y) => (
        <Box key={y} at={[72, y]} className={SENT} />
      ))}
    </>
  ),
  falling: (
    <>
      <path d="M4 6H24V11H40V16H54" className={FAINT} />
      <path d="M54 16V28H72V25H92" strokeWidth="2" className={SENT} />
      <path d="M2 21H94" strokeDasharray="2 3" className="text-muted" />
    </>
  ),
  steps: (
    <>
      <path d="M4 28H28V20H52V25H70V9H92" className={FAINT} />
      <path d="M28 28V20M52 20V25M70 25V9" strokeWidth="2.5" className={SENT} />
    </>
  ),
  feed: (
    <>
      {[0, 1, 2, 3, 4, 5, 6].map((index) => (
        <path
          key={index}
          d={`M${12 + index * 12} 6v14`}
          strokeWidth="3"
          className={index < 4 ? SENT : FAINT}
        />
      ))}
      <path d="m48 26 4 6h-8z" className="text-muted" />
    </>
  ),
  queue: (
    <>
      {[6, 20, 34].map((x) => (
        <Box key={x} at={[x, 13]} size={10} className={SENT} />
      ))}
      <path d="M50 18H60C68 18 68 9 78 9M60 18C68 18 68 27 78 27" className={FAINT} />
      <circle cx="84" cy="9" r="4" className={FAINT} />
      <circle cx="84" cy="27" r="4" className={FAINT} />
    </>
  ),
  table: (
    <>
      <rect x="8" y="4" width="80" height="28" rx="1.5" className={FAINT} />
      <path d="M8 12H88M34 4V32M60 4V32" className={FAINT} />
      <path d="M13 18h14m12 0h14m12 0h14" strokeWidth="2.5" className={SENT} />
      <path d="M13 26h10m16 0h14m12 0h8" className={FAINT} />
    </>
  ),
} as const satisfies Readonly<Record<string, React.ReactNode>>;

export type PictureName = keyof typeof PICTURES;

/** Draws a picture, which is decoration next to the recipe's text. */
export const Picture = ({ name }: { name: PictureName }) => (
  <svg
    viewBox="0 0 96 36"
    width="96"
    height="36"
    fill="none"
    stroke="currentColor"
    strokeWidth="1.5"
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
    className="shrink-0"
  >
    {PICTURES[name]}
  </svg>
);
