import { defineConfig } from 'vite';

// One file is the whole delivery: the script and the style go into the page itself, so that it
// opens from file:// (where a module script may not load another file) and needs no server.
function oneFile() {
  return {
    name: 'one-file',
    enforce: 'post',
    generateBundle(_options, bundle) {
      const page = bundle['index.html'];
      let script = '';
      let style = '';
      for (const [name, part] of Object.entries(bundle)) {
        if (name.endsWith('.js')) script += part.code;
        else if (name.endsWith('.css')) style += part.source;
        else continue;
        delete bundle[name];
      }
      const html = page.source
        .replace(/\s*<script type="module"[^>]*src=[^>]*><\/script>/, '')
        .replace(/\s*<link rel="(stylesheet|modulepreload)"[^>]*>/g, '');
      // Functions as replacements: `$&` in the bundled code must stay as it is.
      const code = script.trim().replace(/<\/script/g, '<\\/script');
      page.source = html
        .replace('</head>', () => `<style>${style.trim()}</style>\n</head>`)
        .replace('</body>', () => `<script>${code}</script>\n</body>`);
    },
  };
}

export default defineConfig({
  plugins: [oneFile()],
  build: {
    target: 'es2020',
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: Number.MAX_SAFE_INTEGER,
    rollupOptions: { output: { format: 'iife' } },
  },
});
