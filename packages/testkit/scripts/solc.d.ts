// solc's own declarations say `any`; these are the two members we use.
declare module 'solc' {
  const solc: {
    /** Standard JSON in, standard JSON out; `import` answers each import path of the sources. */
    compile(
      input: string,
      callbacks: { import(path: string): { contents: string } | { error: string } },
    ): string;
    version(): string;
  };
  export default solc;
}
