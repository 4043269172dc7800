/** Texts of the form that depend on the chain family. */
export interface FormText {
  /** Names of what a stream can watch, such as `an address or a factory`. */
  readonly watched: string;
  /** Name of what can be selected, such as `an event`. */
  readonly selection: string;
  /** Description of what a stream for all addresses matches. */
  readonly allAddresses: string;
  /** Description of what the demo stream sends. */
  readonly demo: string;
  /** Placeholders of address lists: in the form, and for an import. */
  readonly addressLine: string;
  readonly importLine: string;
  /** Sample list that users can download and edit. */
  readonly sampleList: string;
  /** Method of a handler that registers a function for webhooks. */
  readonly handlerMethod: string;
}
