/** Shows text from the OpenAPI document, with the parts in backticks formatted as code. */
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
