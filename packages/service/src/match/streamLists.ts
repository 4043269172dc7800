/**
 * Linked lists of stream numbers in typed arrays. A list is identified by its first node. A node
 * has two words: a stream, and the number of the next node plus 1, or 0 at the end of the list.
 */

const NODES_PER_SEGMENT = 1 << 13;
const NODE_WORDS = 2;

export function createStreamLists() {
  const segments: Uint32Array[] = [];
  /** First node of the list of free nodes. */
  let firstFree: number | undefined;
  const segmentOf = (node: number): Uint32Array => segments[Math.floor(node / NODES_PER_SEGMENT)]!;
  const offsetOf = (node: number): number => (node % NODES_PER_SEGMENT) * NODE_WORDS;
  const streamOf = (node: number): number => segmentOf(node)[offsetOf(node)]!;
  const nextOf = (node: number): number | undefined => {
    const next = segmentOf(node)[offsetOf(node) + 1]!;
    return next === 0 ? undefined : next - 1;
  };
  const setNext = (node: number, next: number | undefined): void => {
    segmentOf(node)[offsetOf(node) + 1] = next === undefined ? 0 : next + 1;
  };

  const free = (node: number): void => {
    setNext(node, firstFree);
    firstFree = node;
  };
  const grow = (): number => {
    const first = segments.length * NODES_PER_SEGMENT;
    segments.push(new Uint32Array(NODES_PER_SEGMENT * NODE_WORDS));
    for (let node = first + NODES_PER_SEGMENT - 1; node > first; node--) free(node);
    return first;
  };

  return {
    get sizeBytes() {
      return segments.length * NODES_PER_SEGMENT * NODE_WORDS * Uint32Array.BYTES_PER_ELEMENT;
    },
    free,
    /** Prepends a stream to the list `next`, and returns the new list. */
    push(stream: number, next: number | undefined): number {
      let node = firstFree;
      if (node === undefined) node = grow();
      else firstFree = nextOf(node);
      segmentOf(node)[offsetOf(node)] = stream;
      setNext(node, next);
      return node;
    },
    has(head: number, stream: number): boolean {
      for (let node: number | undefined = head; node !== undefined; node = nextOf(node)) {
        if (streamOf(node) === stream) return true;
      }
      return false;
    },
    visit(head: number, visit: (stream: number) => void): void {
      for (let node: number | undefined = head; node !== undefined; node = nextOf(node)) {
        visit(streamOf(node));
      }
    },
    /** Returns the only stream of a list; undefined if the list has several. */
    only: (head: number): number | undefined =>
      nextOf(head) === undefined ? streamOf(head) : undefined,
    /**
     * Removes the streams that are gone, and calls `onGone` for each. Returns the remaining list;
     * undefined if it is empty.
     */
    filter(
      head: number,
      isGone: (stream: number) => boolean,
      onGone: () => void,
    ): number | undefined {
      let first: number | undefined;
      let last: number | undefined;
      for (let node: number | undefined = head; node !== undefined;) {
        const next = nextOf(node);
        if (isGone(streamOf(node))) {
          free(node);
          onGone();
        } else {
          if (last === undefined) first = node;
          else setNext(last, node);
          last = node;
        }
        node = next;
      }
      if (last !== undefined) setNext(last, undefined);
      return first;
    },
  };
}
