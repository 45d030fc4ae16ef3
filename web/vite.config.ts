import { gzipSync } from 'node:zlib'
import react from '@vitejs/plugin-react'
import type { Plugin } from 'vite'
import { defineConfig } from 'vitest/config'
import { compressed } from './vite.compressed'

// What a browser may have to fetch before somebody can use the page that he opens first, in bytes by gzip. Over http
// browsers take nothing better. Source: docs/development.md#pages-in-a-browser.
const firstLoadMax = 245_000

// There are some forty pages; a build that finds few of them does not know their names any more.
const pagesMin = 30

// firstLoad stops a build in which a page needs more: the frame, the page with all that it imports, and the search.
function firstLoad(): Plugin {
  return {
    name: 'first-load',
    apply: 'build',
    generateBundle(_options, bundle) {
      const sizes = new Map<string, number>()
      const sizeOf = (name: string) => {
        const file = bundle[name]
        const text = file?.type === 'chunk' ? file.code : (file?.source ?? '')
        if (!sizes.has(name)) sizes.set(name, gzipSync(text, { level: 9 }).length)
        return sizes.get(name) ?? 0
      }
      const add = (name: string, all: Set<string>) => {
        const file = bundle[name]
        if (all.has(name) || file?.type !== 'chunk') return all
        all.add(name)
        for (const css of file.viteMetadata?.importedCss ?? []) all.add(css)
        for (const other of file.imports) add(other, all)
        return all
      }
      const chunks = Object.values(bundle).filter((file) => file.type === 'chunk')
      const always = chunks.filter((c) => c.isEntry || c.name === 'Palette')
      const pages = chunks.filter((c) => c.isDynamicEntry && c.name.endsWith('Page'))
      // A part that has another name now would be left out without a word.
      if (always.length < 2) this.error('There is no entry, or no Palette, whose first load can be told.')
      if (pages.length < pagesMin) this.error(`Only ${pages.length} pages are named …Page: fewer than ${pagesMin}.`)
      const tooMuch: string[] = []
      for (const page of pages) {
        const files = new Set<string>()
        for (const c of [...always, page]) add(c.fileName, files)
        const sum = [...files].reduce((total, name) => total + sizeOf(name), 0)

        if (sum <= firstLoadMax) continue
        const most = [...files].sort((a, b) => sizeOf(b) - sizeOf(a)).slice(0, 8)
        const told = most.map((name) => `${name} ${sizeOf(name)}`).join(', ')
        tooMuch.push(`The first load of ${page.name} has ${sum} bytes, more than ${firstLoadMax}: ${told} …`)
      }
      if (tooMuch.length > 0) this.error(tooMuch.join('\n'))
    },
  }
}

// In development the pages come from Vite and the API from a running demo.
const api = process.env.LASTMILE_API ?? 'http://demo.lastmile.localhost:8080'

export default defineConfig({
  base: '/app/',
  plugins: [react(), compressed(), firstLoad()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    assetsDir: 'assets',
    assetsInlineLimit: 0, // data: addresses are not allowed by the content-security-policy
    target: 'es2022',
    // A part that was lost on the way is asked for again: what a preload has failed to read, an import does not try.
    modulePreload: {
      polyfill: false,
      resolveDependencies: (_, deps, { hostType }) => (hostType === 'html' ? deps : deps.filter((d) => d.endsWith('.css'))),
    },
    rollupOptions: {
      output: {
        manualChunks: (id) => (/node_modules\/(react|react-dom|scheduler)\//.test(id) ? 'react' : undefined),
      },
    },
  },
  server: {
    proxy: { '^/(?!app/|@|src/|node_modules/)': { target: api, changeOrigin: true } },
  },
  // The time limit is for a test that hangs, and not for a slow machine.
  test: { setupFiles: ['./vitest.setup.ts'], testTimeout: 120_000 },
})
