import { clsx } from 'clsx';
import { useRef, useState } from 'react';

const hasFile = ({ dataTransfer }: React.DragEvent): boolean =>
  dataTransfer.types.includes('Files');

/**
 * Accepts a file dropped anywhere on its children, and highlights them while a file is dragged over
 * them.
 */
export function DropZone({
  onFile,
  className,
  children,
}: {
  onFile: (file: File) => void;
  className?: string;
  children: React.ReactNode;
}) {
  /** Number of nested elements that the dragged file has entered and not left. */
  const depth = useRef(0);
  const [isOver, setIsOver] = useState(false);
  const move = (step: 1 | -1): void => {
    depth.current += step;
    setIsOver(depth.current > 0);
  };
  return (
    <div
      className={clsx(
        'rounded-control outline-offset-4',
        isOver && 'outline-2 outline-accent outline-dashed',
        className,
      )}
      onDragEnter={(event) => hasFile(event) && move(1)}
      onDragLeave={(event) => hasFile(event) && move(-1)}
      onDragOver={(event) => hasFile(event) && event.preventDefault()}
      onDrop={(event) => {
        if (!hasFile(event)) return;
        event.preventDefault();
        depth.current = 0;
        setIsOver(false);
        const [file] = event.dataTransfer.files;
        if (file !== undefined) onFile(file);
      }}
    >
      {children}
    </div>
  );
}
