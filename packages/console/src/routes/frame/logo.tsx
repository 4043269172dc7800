/** The logo: three streams through one gate. */
export function Logo({ className }: { className?: string }) {
  return (
    <svg viewBox="0 0 16 16" aria-hidden="true" className={className}>
      <path
        d="M1.5 4h13M1.5 8h5m3 0h5M1.5 12h13"
        stroke="currentColor"
        fill="none"
        strokeWidth="1.5"
      />
      <path d="M8 1v14" stroke="var(--color-accent)" strokeWidth="2" />
    </svg>
  );
}
