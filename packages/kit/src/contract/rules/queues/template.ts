/** Templates for names of messages, such as `payments.{chain}`, which are filled per webhook. */

const PLACEHOLDERS = ['stream', 'tag', 'chain', 'phase'] as const;

/** Values of a webhook that a template may contain. */
export type TemplateValues = Record<(typeof PLACEHOLDERS)[number], string>;

/**
 * Checks the placeholders of a template, and returns it.
 *
 * @throws Error with the problem, which completes "webhookUrl …"
 */
export function parseTemplate(template: string): string {
  for (const text of template.split('{').slice(1)) {
    const placeholder = `{${text.slice(0, text.indexOf('}') + 1)}`;
    if (!PLACEHOLDERS.some((name) => placeholder === `{${name}}`)) {
      const known = PLACEHOLDERS.map((name) => `{${name}}`);
      throw new Error(`should have only the placeholders ${known.join(', ')}, not ${placeholder}`);
    }
  }
  return template;
}

/**
 * Fills a template with the values of a webhook. Characters other than letters, digits, `-` and `_`
 * become `_`, as does an empty value, such as each value of a test webhook. So each value is one
 * word of a name whose words are separated by dots.
 */
export const fillTemplate = (template: string, values: TemplateValues): string =>
  PLACEHOLDERS.reduce(
    (filled, name) =>
      filled.replaceAll(`{${name}}`, values[name].replaceAll(/[^\w-]/g, '_') || '_'),
    template,
  );

/** Returns whether the filled template depends on the webhook. */
export const hasPlaceholder = (template: string): boolean => template.includes('{');
