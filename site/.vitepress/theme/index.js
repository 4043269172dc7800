/** VitePress's theme with system fonts, our colors, and a link to each page as Markdown. */
import { useData, withBase } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import { h } from 'vue';
import './style.css';

const MarkdownLink = {
  setup() {
    const { page } = useData();
    return () =>
      h('p', { class: 'markdown-link' }, [
        // With a target, the router leaves the link to the browser.
        h(
          'a',
          { href: withBase(`/${page.value.relativePath}`), target: '_self' },
          'View as Markdown',
        ),
      ]);
  },
};

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { 'doc-footer-before': () => h(MarkdownLink) }),
};
