/** The shape of a row in the tables of settings, and the types of values that rows share. */
import * as z from 'zod';

export interface Setting<Type extends z.ZodType = z.ZodType> {
  /**
   * The flag and its placeholder, such as `--page-size <n>`. The environment variable has the same
   * words: `SLUICE_PAGE_SIZE`. A switch that starts with `--no-` turns its setting off.
   */
  readonly flags: string;
  readonly description: string;
  /** Type, default and checks of the value in `sluice.yaml`. */
  readonly type: Type;
  /**
   * Reads the value that the service uses from the texts of a list or mapping: one per item, or
   * `<chain>=<text>`. Without it, the service uses the value in `sluice.yaml`.
   *
   * @throws InvalidValue
   */
  readonly read?: (texts: readonly string[]) => unknown;
  /** Default of a list or mapping, as shown in help. Default: `none`. */
  readonly shownDefault?: string;
  /** Whether the value is a path; in the settings file, it is relative to the file's folder. */
  readonly isPath?: true;
  /** Whether the complete value is a secret. Secrets in URLs are detected automatically. */
  readonly isSecret?: true;
}

/** A table of settings, by their field in `sluice.yaml`. */
export type SettingTable = Readonly<Record<string, Setting>>;

/** An invalid value of a setting, whose name the reader of settings adds. */
export class InvalidValue extends Error {
  /** The invalid text. */
  readonly value: string;
  /** The text as messages show it, if the complete one may contain a secret. */
  readonly shown: string;

  /** @param problem what is wrong, such as `should be a whole number` */
  constructor(value: string, problem: string, shown = value) {
    super(problem);
    this.value = value;
    this.shown = shown;
  }
}

/**
 * Creates the type of a text with a check.
 *
 * @param problemOf returns what is wrong with the text; undefined if it is valid
 */
export const checkedText = (problemOf: (text: string) => string | undefined) =>
  z.string().superRefine((text, context) => {
    const message = problemOf(text);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });

export const httpUrl = checkedText((url) =>
  URL.canParse(url) && /^https?:/i.test(url)
    ? undefined
    : 'should be an absolute http:// or https:// URL',
);

/** A switch that is off unless it is given. */
export const offByDefault = z.boolean().default(false);

/** A text per chain; on the command line, `<chain>=<text>`. */
export const textByChain = z.record(z.string(), z.string()).default({});
