import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

// compressed writes .br and .gz beside each file that is worth it: the program serves them as they are, and spends
// no time on compression.
function compressed(): Plugin {
  let out = ''
  return {
    name: 'compressed',
    apply: 'build',
    configResolved(config) {
      out = join(config.root, config.build.outDir)
    },
    async closeBundle() {
      for (const name of await readdir(out, { recursive: true })) {
        if (!/\.(js|css|svg|json)$/.test(name)) continue
        const file = join(out, name)
        const text = await readFile(file)
        const br = await promisify(brotliCompress)(text, {
          params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: text.length },
        })
        const gz = await promisify(gzip)(text, { level: 9 })
        if (br.length < text.length) await writeFile(`${file}.br`, br)
        if (gz.length < text.length) await writeFile(`${file}.gz`, gz)
      }
    },
  }
}

// In development the pages come from Vite and the API from a running demo.
const api = process.env.LASTMILE_API ?? 'http://demo.lastmile.localhost:8080'

export default defineConfig({
  base: '/app/',
  plugins: [react(), compressed()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    assetsDir: 'assets',
    assetsInlineLimit: 0, // data: addresses are not allowed by the content-security-policy
    target: 'es2022',
    modulePreload: { polyfill: false },
    rollupOptions: {
      output: {
        manualChunks: (id) => (/node_modules\/(react|react-dom|scheduler)\//.test(id) ? 'react' : undefined),
      },
    },
  },
  server: {
    proxy: { '^/(?!app/|@|src/|node_modules/)': { target: api, changeOrigin: true } },
  },
})
