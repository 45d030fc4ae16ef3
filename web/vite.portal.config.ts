import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import react from '@vitejs/plugin-react'
import type { Plugin } from 'vite'
import { defineConfig } from 'vite'
import { compressed } from './vite.compressed'

// What a phone may have to fetch before the portal can be used, in bytes by gzip: with both languages, and all pages.
// Source: docs/development.md#pages-in-a-browser.
const firstLoadMax = 100_000

/** ownFiles are the files of the folder public that belong to the pages. */
const ownFiles = ['icon.svg', 'icon-192.png']

// shell stops a build in which the portal has become too large for a slow network, and tells its worker what to keep.
function shell(): Plugin {
  return {
    name: 'shell',
    apply: 'build',
    async generateBundle(_options, bundle) {
      const all = Object.values(bundle).filter(({ fileName }) => !fileName.endsWith('.html'))
      const text = (file: (typeof all)[number]) => (file.type === 'chunk' ? file.code : file.source)
      const entry = all.find((file) => file.type === 'chunk' && file.isEntry)
      if (entry?.type !== 'chunk') return this.error('There is no entry whose first load can be told.')
      const first = all.filter((file) => file === entry || entry.imports.includes(file.fileName) || file.fileName.endsWith('.css'))
      const sum = first.reduce((total, file) => total + gzipSync(text(file), { level: 9 }).length, 0)
      if (sum > firstLoadMax) this.error(`The first load of the portal has ${sum} bytes, more than ${firstLoadMax}.`)
      this.info(`The first load of the portal has ${sum} bytes.`)

      const worker = await readFile('portal/worker.js', 'utf8')
      const files = ['/portal/', ...[...ownFiles, ...all.map(({ fileName }) => fileName)].map((name) => `/portal/${name}`)]
      const version = createHash('sha256').update(worker)
      for (const file of all) version.update(file.fileName).update(text(file))
      version.update(await readFile('portal/index.html'))
      const source = worker
        .replace('__KEPT__', `portal-${version.digest('hex').slice(0, 16)}`)
        .replace("'__FILES__'", files.map((file) => `'${file}'`).join(', '))
      this.emitFile({ type: 'asset', fileName: 'worker.js', source })
    },
  }
}

// In development the pages come from Vite and the API from a running demo.
const api = process.env.LASTMILE_API ?? 'http://demo.lastmile.localhost:8080'

// The portal is built apart from the dashboard, so that what the dashboard needs never comes with it.
export default defineConfig({
  root: 'portal',
  base: '/portal/',
  plugins: [react(), shell(), compressed()],
  build: {
    outDir: '../dist/portal',
    emptyOutDir: true,
    assetsDir: 'assets',
    assetsInlineLimit: 0, // data: addresses are not allowed by the content-security-policy
    target: 'es2022',
    modulePreload: { polyfill: false },
  },
  server: {
    fs: { allow: ['..'] },
    proxy: { '^/(?!portal/|@|src/|node_modules/)': { target: api, changeOrigin: true } },
  },
})
