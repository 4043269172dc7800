/**
 * Fields of `package.json` that name the repository. Only a workflow on GitHub knows the
 * repository's URL, which npm requires for provenance.
 */
const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: name } = process.env;

/** URL of the repository; undefined outside of a workflow. */
export const REPOSITORY_URL = server && name ? `${server}/${name}` : undefined;

export const repositoryFields = (directory: string): object =>
  REPOSITORY_URL === undefined
    ? {}
    : {
        repository: { type: 'git', url: `git+${REPOSITORY_URL}.git`, directory },
        homepage: `${REPOSITORY_URL}#readme`,
        bugs: `${REPOSITORY_URL}/issues`,
      };
