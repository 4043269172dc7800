/**
 * Lists the orders in which a node's unknown fields may be appended to a header, the most likely
 * one first.
 */

/** Maximum number of fields that forks usually append. */
const FEW = 3;
/** Maximum number of orders with more fields that are listed before other orders of few fields. */
const MANY_FIRST = 500;

/**
 * Yields the selections of `count` fields, as indices in the order in which they are appended:
 * first those in the order of the node, with few fields and with most fields; then other orders.
 */
export function* listOrders(count: number): Generator<readonly number[]> {
  const few = Math.min(FEW, count);
  for (let size = 1; size <= few; size++) yield* select(count, size);
  const many = selectMany(count);
  for (let left = MANY_FIRST; left > 0; left--) {
    const next = many.next();
    if (next.done === true) break;
    yield next.value;
  }
  for (let size = 2; size <= few; size++) yield* permute(count, size);
  yield* many;
  for (let size = FEW + 1; size <= count; size++) yield* permute(count, size);
}

/** Yields the selections of more than a few fields in the order of the node, all fields first. */
function* selectMany(count: number): Generator<readonly number[]> {
  for (let size = count; size > FEW; size--) yield* select(count, size);
}

/** Yields the selections of `size` fields in ascending order. */
function* select(
  count: number,
  size: number,
  chosen: readonly number[] = [],
): Generator<readonly number[]> {
  if (chosen.length === size) {
    yield chosen;
    return;
  }
  const next = (chosen.at(-1) ?? -1) + 1;
  for (let n = next; n <= count - (size - chosen.length); n++) {
    yield* select(count, size, [...chosen, n]);
  }
}

/** Yields the selections of `size` fields in all orders but the ascending one. */
function* permute(
  count: number,
  size: number,
  chosen: readonly number[] = [],
): Generator<readonly number[]> {
  if (chosen.length === size) {
    if (chosen.some((n, at) => at > 0 && n < chosen[at - 1]!)) yield chosen;
    return;
  }
  for (let n = 0; n < count; n++) {
    if (!chosen.includes(n)) yield* permute(count, size, [...chosen, n]);
  }
}
