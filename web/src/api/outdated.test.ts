import { QueryClient, QueryObserver } from '@tanstack/react-query'
import { expect, test, vi } from 'vitest'

vi.hoisted(() => {
  vi.stubGlobal('localStorage', { getItem: () => 'en', setItem: () => undefined })
  vi.stubGlobal('document', { documentElement: {} })
})

const { outdated } = await import('./outdated')
const { Problem } = await import('./problem')

const failed = (status: number) => new Problem(status, null, null, null)

/** shown is a read on a page that gave something at first, and then answers with what the test says. */
async function shown(retry?: false) {
  const queries = new QueryClient({ defaultOptions: { queries: { retryDelay: 0 } } })
  let next: Error | null = null
  const read = new QueryObserver(queries, {
    queryKey: ['get', '/things', {}],
    retry: retry ?? 1,
    queryFn: async () => {
      if (next) throw next
      return 'old'
    },
  })
  const look = outdated(queries)
  const seen: boolean[] = []
  const end = look.subscribe(() => seen.push(look.now()))
  const leave = read.subscribe(() => undefined)
  await read.refetch()
  const again = async (answer: Error | null) => {
    next = answer
    await read.refetch()
  }
  return { look, seen, leave, again, end }
}

for (const status of [0, 500, 503]) {
  test(`what is shown is old while its reads end in ${status}, until one succeeds`, async () => {
    const { look, seen, again } = await shown()
    expect(look.now()).toBe(false)
    await again(failed(status))
    expect(look.now()).toBe(true)
    await again(failed(status))
    await again(null)
    expect(look.now()).toBe(false)
    expect(seen, 'who looks is told of each change once').toEqual([true, false])
  })
}

test('what the server refuses makes nothing old', async () => {
  const { look, again } = await shown()
  for (const status of [403, 404, 422, 429]) await again(failed(status))
  expect(look.now()).toBe(false)
})

test('a router that does not answer makes no page old', async () => {
  const { look, again } = await shown(false)
  await again(failed(503))
  expect(look.now()).toBe(false)
})

test('what nobody looks at any more is not old, and a read without an answer yet says so itself', async () => {
  const { look, again, leave, end } = await shown()
  await again(failed(503))
  leave()
  expect(look.now()).toBe(false)
  end()
  const queries = new QueryClient({ defaultOptions: { queries: { retryDelay: 0 } } })
  const first = outdated(queries)
  first.subscribe(() => undefined)
  const read = new QueryObserver(queries, { queryKey: ['x'], retry: 0, queryFn: () => Promise.reject(failed(503)) })
  read.subscribe(() => undefined)
  await read.refetch()
  expect(first.now()).toBe(false)
})
