import { afterEach, expect, test, vi } from 'vitest'

afterEach(() => { vi.useRealTimers(); vi.unstubAllGlobals() })

/** answering has the server answer a renewal with one status and code; it returns what is tried. */
async function answering(status: number, code: string) {
  vi.useFakeTimers()
  vi.stubGlobal('navigator', { language: 'en' })
  vi.stubGlobal('localStorage', { getItem: () => null, setItem: () => undefined })
  vi.stubGlobal('document', { documentElement: {} })
  vi.stubGlobal('fetch', async () => Response.json({ statusCode: status, code, message: code }, { status }))
  return import('./session')
}

test('a page whose cookies another page has renewed goes on with them, once they may have arrived', async () => {
  const { renewed } = await answering(409, 'refresh_token_renewed')
  let told: boolean | null = null
  void renewed().then((ok) => { told = ok })
  await vi.advanceTimersByTimeAsync(900)
  expect(told).toBe(null)
  await vi.advanceTimersByTimeAsync(200)
  expect(told).toBe(true)
})

test('a session that was ended for safety is over, and another refusal says nothing about it', async () => {
  const { renewed } = await answering(401, 'refresh_token_reused')
  expect(await renewed()).toBe(false)
  await answering(409, 'another_person')
  await expect(renewed()).rejects.toMatchObject({ code: 'another_person' })
})
