import { expect, test, vi } from 'vitest'

vi.hoisted(() => {
  const kept = new Map<string, string>()
  vi.stubGlobal('localStorage', { getItem: (name: string) => kept.get(name) ?? null, setItem: (name: string, v: string) => kept.set(name, v) })
  vi.stubGlobal('navigator', { language: 'en' })
  vi.stubGlobal('document', { documentElement: {} })
})

const { cookiesAreNew, renewed, renewsBehind } = await import('./session')

const answers = (status: number, code: string) => {
  vi.stubGlobal('fetch', () => Promise.resolve(new Response(JSON.stringify({ statusCode: status, code }), { status })))
}

test('a session that has ended is told from one whose cookies another sign-in has displaced', async () => {
  answers(200, '')
  expect(await renewed()).toBe('renewed')
  for (const code of ['refresh_token_invalid', 'refresh_token_reused']) {
    answers(401, code)
    expect(await renewed(), code).toBe('ended')
  }
  answers(401, 'unauthenticated')
  expect(await renewed()).toBe('displaced')
})

test('nobody has to sign in because the server cannot renew now', async () => {
  answers(503, 'unavailable')
  await expect(renewed()).rejects.toMatchObject({ status: 503 })
})

test('a refusal of the old cookies that comes after a sign-in asks nobody to sign in again', async () => {
  vi.useFakeTimers()
  let refuse: (answer: Response) => void = () => undefined
  vi.stubGlobal('fetch', () => new Promise<Response>((done) => { refuse = done }))
  const asked = renewed()
  vi.advanceTimersByTime(5)
  cookiesAreNew()
  refuse(new Response(JSON.stringify({ statusCode: 401, code: 'unauthenticated' }), { status: 401 }))
  expect(await asked).toBe('renewed')
  vi.advanceTimersByTime(5)
  answers(401, 'unauthenticated')
  expect(await renewed()).toBe('displaced')
  vi.useRealTimers()
})

test('a page that renews behind others does not use the token that they have used', async () => {
  vi.useFakeTimers()
  renewsBehind(true)
  for (const [others, want] of [[200, ['/auth/me']], [401, ['/auth/me', '/auth/refresh']]] as const) {
    vi.advanceTimersByTime(100)
    const asked: string[] = []
    vi.stubGlobal('fetch', (path: string) => {
      asked.push(path)
      return Promise.resolve(new Response('{}', { status: path === '/auth/me' ? others : 200 }))
    })
    const renewal = renewed()
    await vi.advanceTimersByTimeAsync(1900)
    expect(asked).toEqual([])
    await vi.advanceTimersByTimeAsync(6200)
    expect(await renewal).toBe('renewed')
    expect(asked).toEqual(want)
  }
  renewsBehind(false)
  vi.useRealTimers()
})
