// Makes the types of the API, and who may call what, from the description that the program serves at /openapi.json.
// A change of the API that a page does not know stops the build.
import { readdir, readFile, writeFile } from 'node:fs/promises'
import openapiTS, { astToString } from 'openapi-typescript'

const source = new URL('../src/api/openapi.json', import.meta.url)
const head = '// Made by scripts/types.mjs from openapi.json. Do not edit.\n'

const types = astToString(await openapiTS(source))
await writeFile(new URL('../src/api/schema.gen.ts', import.meta.url), head + types)

const api = JSON.parse(await readFile(source, 'utf8'))
const operations = Object.entries(api.paths).flatMap(([path, of]) => (
  Object.entries(of).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation['x-access']])
))

// Every page needs the table before it is drawn, so it has only those calls about which pages ask.
const folder = new URL('../src/', import.meta.url)
const files = (await readdir(folder, { recursive: true })).filter((name) => /\.tsx?$/.test(name) && !/\.(gen|test)\./.test(name))
const text = (await Promise.all(files.map((name) => readFile(new URL(name, folder), 'utf8')))).join('\n')
if (text.includes('may(`')) throw new Error('A call that is put together cannot be found: write it out.')
const asked = operations.filter(([name]) => text.includes(`'${name}'`))
const type = operations.map(([name]) => `  | '${name}'`).join('\n')
// One list for each access and method is smaller than a pair for each call.
const paths = {}
for (const [name, needed] of asked) {
  const [method, path] = name.split(' ')
  ;(paths[`${needed} ${method}`] ??= []).push(path)
}
const lists = Object.fromEntries(Object.entries(paths).map(([of, list]) => [of, list.sort().join('|')]))
await writeFile(
  new URL('../src/api/access.gen.ts', import.meta.url),
  `${head}const paths: Record<string, string> = ${JSON.stringify(lists, null, 1)}\n\n`
    + 'export const access: Partial<Record<Operation, string>> = Object.fromEntries(Object.entries(paths).flatMap(([of, list]) => {\n'
    + "  const [needed, method] = of.split(' ')\n"
    + "  return list.split('|').map((path) => [`${method} ${path}`, needed])\n}))\n\n"
    + `/** Operation is a method and a path of the API, such as "POST /payments/cash". */\nexport type Operation =\n${type}\n`,
)
