import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Plugin } from 'vite'

/**
 * compressed writes .br and .gz beside each file that is worth it: the program serves them as they are, and spends no
 * time on compression.
 */
export function compressed(): Plugin {
  let out = ''
  return {
    name: 'compressed',
    apply: 'build',
    configResolved(config) {
      out = resolve(config.root, config.build.outDir)
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
