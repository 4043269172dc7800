/**
 * Returns a copy of `target` with some of its methods replaced. Each function in `replacements`
 * receives the original method and returns the new one.
 */
export function intercept<Target extends object>(
  target: Target,
  replacements: { [Name in keyof Target]?: (method: Target[Name]) => Target[Name] },
): Target {
  const result = { ...target };
  for (const name of Object.keys(replacements) as (keyof Target)[]) {
    result[name] = replacements[name]!(target[name]);
  }
  return result;
}
