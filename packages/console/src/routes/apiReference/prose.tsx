/** Shows a text from the OpenAPI document, and formats the parts in backticks as code. */
export function Prose({ children }: { children: string }) {
  return (
    <>
      {children.split('`').map((part, index) =>
        index % 2 === 1 ? (
          // oxlint-disable-next-line react/no-array-index-key -- the text does not change
          <code key={index} className="data wrap-anywhere">
            {part}
          </code>
        ) : (
          part
        ),
      )}
    </>
  );
}
