/** A URL in a text; of what people and URL parsers take for one, rather more than less. */
const URLS = /\b[a-z][a-z+.-]*:[/\\]{2,}[^\s"'<>]+/gi;

/**
 * The text with the login and the values of the query of each URL in it replaced by `***`, so that it
 * may be logged, listed and shown. A token in the path stays: nothing tells it from a name.
 */
export const hideSecrets = (text: string): string =>
  text.includes('@') || text.includes('?')
    ? text.replaceAll(URLS, (url) => {
        const [, before = '', query] = /^([^?]*)(\?.*)?$/s.exec(url) ?? [];
        return hideLogin(before) + (query === undefined ? '' : hideValues(query));
      })
    : text;

const LOGIN = /^([^/\\]*[/\\]+)[^/\\#]*@/;

const hideLogin = (url: string): string => url.replace(LOGIN, '$1***@');

/** Of `?a=1&b`: a word alone may be a token as well. */
const hideValues = (query: string): string =>
  query.replaceAll(/([?&])([^&#=]*)(=?)[^&#]*/g, (_, mark: string, name: string, equals: string) =>
    equals === '' && name === '' ? mark : `${mark}${equals === '' ? '' : `${name}=`}***`,
  );
