import { QueryClient } from '@tanstack/react-query'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

// A page draws what the store has at the moment.
vi.mock('react', async (original) => ({
  ...await original<object>(), useSyncExternalStore: <T>(_: unknown, now: () => T) => now(),
}))

class FakeSource {
  static all: FakeSource[] = []
  onopen: (() => void) | null = null
  onmessage: ((m: { data: string; lastEventId: string }) => void) | null = null
  onerror: (() => void) | null = null
  closed = false
  alive: (m: { data: string }) => void = () => undefined
  constructor(readonly url: string) { FakeSource.all.push(this) }
  close() { this.closed = true }
  addEventListener(name: string, heard: (m: { data: string }) => void) { if (name === 'alive') this.alive = heard }
}

const answer = (status: number, body: object) => {
  return new Response(JSON.stringify(body), { status, headers: { 'Content-Type': 'application/json' } })
}
let me: () => Promise<Response>
let told: EventTarget

beforeEach(() => {
  vi.useFakeTimers()
  vi.resetModules()
  FakeSource.all = []
  me = async () => answer(200, {})
  told = new EventTarget()
  vi.stubGlobal('EventSource', FakeSource)
  vi.stubGlobal('navigator', { language: 'en' })
  vi.stubGlobal('localStorage', { getItem: () => null, setItem: () => undefined })
  vi.stubGlobal('document', { documentElement: {} })
  vi.stubGlobal('window', told)
  vi.stubGlobal('location', { origin: 'http://x.test' })
  vi.stubGlobal('fetch', () => me())
})

afterEach(() => { vi.useRealTimers(); vi.unstubAllGlobals() })

const last = () => FakeSource.all[FakeSource.all.length - 1]!

/** opened listens as a page does whose stream has opened. */
async function opened() {
  const { listen, useLive } = await import('./stream')
  const queries = new QueryClient()
  const repeated = vi.spyOn(queries, 'invalidateQueries')
  const stop = listen(queries, 'p1')
  last().onopen!()
  return { stop, repeated, liveNow: useLive }
}

/** livesFor has the newest stream give its signs of life. */
async function livesFor(ms: number, serves = 'all') {
  for (let passed = 0; passed < ms; passed += 10_000) {
    last().alive({ data: JSON.stringify({ serves }) })
    await vi.advanceTimersByTimeAsync(10_000)
  }
}

test('a stream that was cut before it told a position has everything read again', async () => {
  const { stop, repeated } = await opened()
  // A browser tells its page no id that comes without a change. Then the token ends, or the laptop sleeps.
  await vi.advanceTimersByTimeAsync(3_600_000)
  last().onerror!()
  await vi.advanceTimersByTimeAsync(5_000)
  const second = FakeSource.all[1]!
  second.onopen!()
  await vi.advanceTimersByTimeAsync(5_000)
  stop()
  expect(new URL(second.url, 'http://x.test').searchParams.has('lastEventId')).toBe(false)
  expect(repeated).toHaveBeenCalled()
})

/** failsFor lets each new stream fail at once. */
async function failsFor(ms: number) {
  for (let passed = 0; passed < ms; passed += 500) {
    if (!last().closed) last().onerror!()
    await vi.advanceTimersByTimeAsync(500)
  }
}

for (const sign of ['online', 'focus']) {
  test(`a stream that waits before its next try is opened at once by ${sign}`, async () => {
    const { stop, liveNow } = await opened()
    await failsFor(100_000) // tries are half a minute apart by now
    expect(liveNow()).toBe('broken')
    const tries = FakeSource.all.length
    expect(last().closed).toBe(true)
    told.dispatchEvent(new Event(sign))
    expect(FakeSource.all).toHaveLength(tries + 1)
    last().onerror!()
    await vi.advanceTimersByTimeAsync(3_000) // and tries begin to be near to each other again
    expect(FakeSource.all).toHaveLength(tries + 2)
    last().onopen!()
    expect(liveNow()).toBe('live')
    told.dispatchEvent(new Event(sign))
    await livesFor(60_000)
    expect(FakeSource.all, 'a stream that is open is left alone').toHaveLength(tries + 2)
    stop()
  })
}

test('a line that dies without a word is noticed, told and opened anew, and what was missed is read', async () => {
  const { stop, repeated, liveNow } = await opened()
  await livesFor(600_000)
  expect(FakeSource.all).toHaveLength(1)
  me = () => new Promise(() => undefined) // other lines are dead, too
  await vi.advanceTimersByTimeAsync(35_000)
  expect([FakeSource.all[0]!.closed, liveNow()]).toEqual([true, 'broken'])
  await vi.advanceTimersByTimeAsync(5_000)
  expect(FakeSource.all).toHaveLength(2)
  await vi.advanceTimersByTimeAsync(40_000) // it does not open either
  expect(FakeSource.all.length).toBeGreaterThan(2)
  repeated.mockClear()
  last().onopen!()
  await vi.advanceTimersByTimeAsync(2_000)
  expect(liveNow()).toBe('live')
  expect(repeated).toHaveBeenCalled()
  stop()
})

test('what the server can do is told by its stream, and everything is read again when it can read', async () => {
  const { stop, repeated } = await opened()
  const { useServed } = await import('./stream')
  await livesFor(10_000)
  repeated.mockClear()
  const asks = () => repeated.mock.calls.map(([filters]) => {
    const old = (path: string) => filters!.predicate!({ queryKey: ['get', path, {}], state: {} } as never)
    return ['/reports/today', '/customers'].filter(old)
  })
  await livesFor(10_000, 'nothing')
  expect([useServed(), asks()]).toEqual(['nothing', [['/reports/today']]])
  await livesFor(20_000, 'nothing')
  expect(asks()).toHaveLength(1)
  await livesFor(10_000)
  expect([useServed(), asks().at(-1)]).toEqual(['all', ['/reports/today', '/customers']])
  await livesFor(10_000, 'reads')
  expect([useServed(), asks().at(-1)]).toEqual(['reads', ['/reports/today']])
  stop()
})

test('a stream whose session has ended is not live for other tabs while the password is asked for', async () => {
  const { stop, liveNow } = await opened()
  me = () => new Promise(() => undefined) // the answer waits for the password
  last().onerror!()
  expect(liveNow()).toBe('live')
  await vi.advanceTimersByTimeAsync(5_000)
  expect(liveNow()).toBe('broken')
  stop()
})

test('a stream that is back at once was never broken', async () => {
  const { stop, liveNow } = await opened()
  last().onerror!()
  await vi.advanceTimersByTimeAsync(1_000)
  last().onopen!()
  await vi.advanceTimersByTimeAsync(20_000)
  expect(liveNow()).toBe('live')
  stop()
})

test('a stream that ends since the organization is suspended says so, and lives again after the resume', async () => {
  const { stop, repeated, liveNow } = await opened()
  me = async () => answer(403, { statusCode: 403, code: 'organization_suspended', message: 'Suspended.' })
  const seen: string[] = []
  for (let i = 0; i < 120; i++) {
    await failsFor(500)
    if (i > 1) seen.push(liveNow())
  }
  expect(new Set(seen)).toEqual(new Set(['suspended']))
  const tries = FakeSource.all.length
  await failsFor(16_000)
  expect(FakeSource.all.length, 'tries in 16 seconds').toBeGreaterThan(tries)
  await vi.advanceTimersByTimeAsync(16_000)
  repeated.mockClear()
  last().onopen!()
  await vi.advanceTimersByTimeAsync(2_000)
  expect(liveNow()).toBe('live')
  expect(repeated).toHaveBeenCalled()
  stop()
})
