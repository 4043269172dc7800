/** How the command line and the console show a field of a stream; without zod. */
export interface StreamFieldView {
  readonly kind: 'boolean' | 'integer' | 'number' | 'choice' | 'text' | 'list' | 'object';
  /** Whether a new stream, or the object with the field, needs it. */
  readonly isRequired?: true;
  /** Whether only the service sets the field. */
  readonly isReadOnly?: true;
  /** Whether the field affects matches or the contents of webhooks, so that dry runs accept it. */
  readonly isTried?: true;
  /** Flag of `sluice streams create`. Omitted if a field can be set only in files. */
  readonly flag?: {
    /** Name and value, such as `--chain <id...>`; a switch has no value. */
    readonly syntax: `--${string}`;
    readonly help: string;
  };
  /** Name in the console. Omitted if the form does not have the field. */
  readonly label?: string;
  /** Control in the form: a checkbox, a number or a text. Omitted if the form has a control of its own. */
  readonly input?: {
    readonly part: 'match' | 'deliver';
    /** Label of the control, if it is not the label of the field. */
    readonly label?: string;
    readonly hint: string;
    readonly placeholder?: string;
    /** Smallest and largest value of a number. */
    readonly least?: number;
    readonly most?: number;
    /** Value of a choice whose box is checked. */
    readonly checked?: string;
  };
}
