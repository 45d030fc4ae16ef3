import { QueryClient } from '@tanstack/react-query'
import { afterEach, expect, test, vi } from 'vitest'

class FakeSource {
  static all: FakeSource[] = []
  onopen: (() => void) | null = null
  onmessage: ((m: { data: string; lastEventId: string }) => void) | null = null
  onerror: (() => void) | null = null
  closed = false
  constructor(readonly url: string) { FakeSource.all.push(this) }
  close() { this.closed = true }
  addEventListener() {}
}

afterEach(() => { vi.useRealTimers(); vi.unstubAllGlobals() })

test('a stream that was cut before it told a position has everything read again', async () => {
  vi.useFakeTimers()
  vi.stubGlobal('EventSource', FakeSource)
  vi.stubGlobal('navigator', { language: 'en' })
  vi.stubGlobal('localStorage', { getItem: () => null, setItem: () => undefined })
  vi.stubGlobal('document', { documentElement: {} })
  vi.stubGlobal('window', { addEventListener() {}, removeEventListener() {} })
  vi.stubGlobal('location', { origin: 'http://x.test' })
  vi.stubGlobal('fetch', async () => new Response('{}', { status: 200, headers: { 'Content-Type': 'application/json' } }))
  const { listen } = await import('./stream')
  const queries = new QueryClient()
  const repeated = vi.spyOn(queries, 'invalidateQueries')
  const stop = listen(queries, 'p1')
  const first = FakeSource.all[0]!
  first.onopen!()
  // A browser tells its page no id that comes without a change. Then the token ends, or the laptop sleeps.
  await vi.advanceTimersByTimeAsync(3_600_000)
  first.onerror!()
  await vi.advanceTimersByTimeAsync(5_000)
  const second = FakeSource.all[1]!
  second.onopen!()
  await vi.advanceTimersByTimeAsync(5_000)
  stop()
  expect(new URL(second.url, 'http://x.test').searchParams.has('lastEventId')).toBe(false)
  expect(repeated).toHaveBeenCalled()
})
