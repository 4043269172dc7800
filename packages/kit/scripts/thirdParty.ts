/** Lists the packages in a bundle with their licenses, which must accompany every copy. */
import { createRollupLicensePlugin } from 'rollup-license-plugin';

/** Matches licenses with conditions that an MIT package cannot meet. */
const NOT_PERMISSIVE = /GPL|SSPL|BUSL|CC-BY-NC|UNLICENSED/;

/**
 * Creates the bundler's plugin that writes `THIRD-PARTY.md`.
 *
 * @param others folders of packages that contribute no code, but fonts or styles
 */
export const thirdPartyLicenses = (
  others: string[] = [],
): ReturnType<typeof createRollupLicensePlugin> =>
  createRollupLicensePlugin({
    outputFilename: false,
    includePackages: () => others,
    unacceptableLicenseTest: (license) => NOT_PERMISSIVE.test(license),
    additionalFiles: {
      'THIRD-PARTY.md': (packages) => {
        const entries = packages.map(
          ({ name, version, license, licenseText, source }) =>
            `## ${name} ${version} (${license})\n\n${licenseText?.trim() ?? source}`,
        );
        // One version may be installed in several folders.
        return ['# Included packages', ...new Set(entries.toSorted())].join('\n\n') + '\n';
      },
    },
  });
