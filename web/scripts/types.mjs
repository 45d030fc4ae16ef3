// Makes the types of the API, and who may call what, from the description that the program serves at /openapi.json.
// A change of the API that a page does not know stops the build.
import { readFile, writeFile } from 'node:fs/promises'
import openapiTS, { astToString } from 'openapi-typescript'

const source = new URL('../src/api/openapi.json', import.meta.url)
const head = '// Made by scripts/types.mjs from openapi.json. Do not edit.\n'

const types = astToString(await openapiTS(source))
await writeFile(new URL('../src/api/schema.gen.ts', import.meta.url), head + types)

const api = JSON.parse(await readFile(source, 'utf8'))
const access = {}
for (const [path, operations] of Object.entries(api.paths)) {
  for (const [method, operation] of Object.entries(operations)) {
    access[`${method.toUpperCase()} ${path}`] = operation['x-access']
  }
}
await writeFile(
  new URL('../src/api/access.gen.ts', import.meta.url),
  `${head}export const access = ${JSON.stringify(access, null, 1)} as const\n`,
)
