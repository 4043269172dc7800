/** A word with an explanation in a tooltip, which also appears on a click or a tap. */
export function Term({ tip, children }: { tip: string; children: string }) {
  return (
    <button
      type="button"
      data-term
      data-tip={tip}
      className="cursor-help [text-transform:inherit] underline decoration-dotted underline-offset-3"
    >
      {children}
    </button>
  );
}
