import { beforeEach, expect, test, vi } from 'vitest'

/** Worker is a worker whose state a test decides. */
class Worker extends EventTarget {
  state = 'installed'
  postMessage = vi.fn()

  becomes(state: string) {
    this.state = state
    this.dispatchEvent(new Event('statechange'))
  }
}

/** Registration is what the browser has for the portal. */
class Registration extends EventTarget {
  active: Worker | null = Object.assign(new Worker(), { state: 'activated' })
  waiting: Worker | null = null
  installing: Worker | null = null
  update = () => Promise.resolve()
}

const workers = Object.assign(new EventTarget(), { controller: {} as object | null, register: vi.fn() })

let window: EventTarget

/** opened is a page of the portal that has just been loaded with a registration. */
async function opened(registration: Registration) {
  vi.resetModules()
  window = new EventTarget()
  vi.stubGlobal('window', window)
  vi.stubGlobal('navigator', { serviceWorker: workers })
  workers.register.mockResolvedValue(registration)
  const page = await import('./updates')
  page.keepShell()
  window.dispatchEvent(new Event('load'))
  await vi.advanceTimersByTimeAsync(0)
  return page
}

/** arrives has a new version begin to be kept. */
function arrives(registration: Registration): Worker {
  const worker = (registration.installing = new Worker())
  registration.dispatchEvent(new Event('updatefound'))
  return worker
}

beforeEach(() => {
  vi.useFakeTimers()
  workers.controller = {}
  return () => vi.useRealTimers()
})

test('a page is left for the new version when its worker has taken over, for the place that was asked for last', async () => {
  const registration = new Registration()
  const { leave, newVersionWaits } = await opened(registration)
  const worker = arrives(registration)
  expect(newVersionWaits()).toBe(false)
  registration.waiting = worker
  worker.becomes('installed')
  expect(newVersionWaits()).toBe(true)

  const [bills, usage] = [vi.fn(), vi.fn()]
  leave(bills)
  registration.waiting = null
  worker.becomes('activating')
  leave(usage)
  expect(worker.postMessage.mock.calls).toEqual([['take over']])
  expect(usage).not.toHaveBeenCalled()
  worker.becomes('activated')
  expect(usage).toHaveBeenCalledOnce()
  expect(bills).not.toHaveBeenCalled()
  leave(bills)
  expect(bills).toHaveBeenCalledOnce()
})

test('a page of another window is left when the worker that takes over there has done so', async () => {
  const registration = new Registration()
  const { leave } = await opened(registration)
  const worker = (registration.active = new Worker())
  worker.becomes('activating')
  const open = vi.fn()
  leave(open)
  expect(open).not.toHaveBeenCalled()
  worker.becomes('activated')
  expect(open).toHaveBeenCalledOnce()
})

test('whoever goes back while a worker takes over stays there, and can leave later', async () => {
  const registration = new Registration()
  const worker = (registration.waiting = new Worker())
  const { leave } = await opened(registration)
  const open = vi.fn()
  leave(open)
  window.dispatchEvent(new Event('popstate'))
  worker.becomes('activated')
  expect(open).not.toHaveBeenCalled()
  registration.active = worker
  registration.waiting = null
  leave(open)
  expect(open).toHaveBeenCalledOnce()
})

test('a worker that does not take over holds up nobody for long', async () => {
  const registration = new Registration()
  registration.waiting = new Worker()
  const { leave, newVersionWaits } = await opened(registration)
  expect(newVersionWaits(), 'it waits since before').toBe(true)
  const open = vi.fn()
  leave(open)
  expect(open).not.toHaveBeenCalled()
  vi.advanceTimersByTime(3000)
  expect(open).toHaveBeenCalledOnce()

  leave(open)
  registration.waiting.becomes('redundant')
  expect(open).toHaveBeenCalledTimes(2)
})

test('the first version of all is not told of, and that another page has opened a new one is', async () => {
  const registration = new Registration()
  registration.active = null
  workers.controller = null
  const first = await opened(registration)
  arrives(registration).becomes('installed')
  workers.controller = {}
  workers.dispatchEvent(new Event('controllerchange'))
  expect(first.newVersionWaits()).toBe(false)
  workers.dispatchEvent(new Event('controllerchange'))
  expect(first.newVersionWaits()).toBe(true)
})
