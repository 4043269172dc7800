/** Cleans the texts of a node in errors, on the way out of its provider. */
import { cleanNodeText } from '../../base/foreignText.ts';
import { SourceError } from '../source.ts';

/**
 * Wraps the provider of one node, so that its health and the errors of its methods contain only
 * visible text, in which the secrets of the node's URL are masked.
 */
export function cleanNode<Node extends object>(node: Node, url: string): Node {
  const clean = cleanNodeText(url);
  const wrap =
    (method: (...given: unknown[]) => unknown) =>
    (...given: unknown[]): unknown => {
      const result = method.apply(node, given);
      if (result instanceof Promise) {
        return result.catch((error: unknown) => {
          throw error instanceof SourceError ? error.rephrased(clean) : error;
        });
      }
      return hasMessage(result) ? { ...result, message: clean(result.message) } : result;
    };
  const wrapped = new Map<unknown, unknown>();
  return new Proxy(node, {
    get(_, key) {
      const value: unknown = Reflect.get(node, key);
      if (typeof value !== 'function') return value;
      if (!wrapped.has(value)) wrapped.set(value, wrap(value as (...given: unknown[]) => unknown));
      return wrapped.get(value);
    },
  });
}

const hasMessage = (value: unknown): value is { message: string } =>
  typeof value === 'object' &&
  value !== null &&
  'message' in value &&
  typeof value.message === 'string';
