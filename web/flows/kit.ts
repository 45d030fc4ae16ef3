// What flows share: a browser with a page for each flow, people who sign in, and the checks for people with other needs.
import { mkdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { patience } from './patience'
import type { Addresses } from './program'
import { afterAll, expect, inject, test, type TestFunction } from 'vitest'

/** at has the addresses of the program that this file has to itself. */
export const at = programOf(Number(process.env.VITEST_POOL_ID))

function programOf(worker: number): Addresses {
  const programs = inject('programs')
  const own = programs[(worker - 1) % programs.length]
  if (!own) throw new Error('no program was started')
  return own
}

/** people of the demo. */
export const people = {
  admin: { email: 'admin@demo.lastmile.localhost', host: at.isp },
  support: { email: 'support@demo.lastmile.localhost', host: at.isp },
  root: { email: 'root@lastmile.localhost', host: at.root },
} as const

export type Role = keyof typeof people

/** password is that of all of them. */
export const password = 'demo-password'

/** Visit is a browser window of somebody, and nobody else's. */
export interface Visit {
  page: Page
  context: BrowserContext
}

let started: Promise<Browser> | null = null

/** browser is Debian's Chromium without its windows, which takes two thirds of the time, or the one at CHROMIUM. */
export function browser(): Promise<Browser> {
  started ??= chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium-headless-shell', args: ['--no-sandbox'] })
  return started
}

afterAll(async () => {
  await (await started)?.close()
  started = null
})

const desk = { viewport: { width: 1366, height: 768 }, locale: 'en-KE' }

/** phone is a window as wide as a small phone. */
export const phone = { viewport: { width: 360, height: 740 }, hasTouch: true } satisfies BrowserContextOptions

/** visit opens a window. */
export async function visit(options: BrowserContextOptions = {}): Promise<Visit> {
  const context = await (await browser()).newContext({ ...desk, reducedMotion: 'reduce', ...options })
  context.setDefaultTimeout(patience)
  return { context, page: await context.newPage() }
}

// What the browser itself writes about an answer that is no success; flows make such answers on purpose.
const expected = /Failed to load resource|net::ERR_/

const flows =
  (by: (name: string, run: TestFunction) => void) =>
  (name: string, walk: (v: Visit) => Promise<void>, options: BrowserContextOptions = {}) =>
    by(name, async ({ task, onTestFinished }) => {
      const v = await visit(options)
      const faults: string[] = []
      v.page.on('pageerror', (e) => faults.push(String(e)))
      v.page.on('console', (m) => {
        if (m.type() === 'error' && !expected.test(m.text())) faults.push(m.text())
      })
      onTestFinished(async () => {
        if (task.result?.state === 'fail') await picture(v.page, name)
        await v.context.close()
      })
      await walk(v)
      expect(faults, 'what the browser complained about').toEqual([])
    })

/**
 * flow is a test with a window. A script that throws, or something that the content-security-policy refuses, fails it.
 * Of a flow that fails a picture is left in node_modules/.flows.
 */
export const flow = flows(test)

/** besideOthers is a flow that goes at the same time as another of its file: none of them sees what the other changes. */
export const besideOthers = flows(test.concurrent)

async function picture(page: Page, name: string) {
  await mkdir('node_modules/.flows', { recursive: true })
  await page.screenshot({ path: join('node_modules/.flows', `${name.replace(/\W+/g, '-')}.png`) }).catch(() => undefined)
}

/** fillSignIn signs in by the form that the page shows. */
export async function fillSignIn(page: Page, email: string, secret: string) {
  await page.getByLabel('E-mail address').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(secret)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/** signIn opens a page of the program as somebody, without the form: an empty page of its host signs in. */
export async function signIn(page: Page, role: Role, path = '/') {
  const { email, host } = people[role]
  await page.route(`${host}/app/`, (empty) => empty.fulfill({ contentType: 'text/html', body: '' }), { times: 1 })
  await page.goto(`${host}/app/`)
  const answer = await call(page, 'POST', '/auth/login', { email, password })
  expect(answer.status).toBe(200)
  await goTo(page, role, path)
}

/** goTo opens a page as its address says, and waits until it is drawn. */
export async function goTo(page: Page, role: Role, path: string) {
  await page.goto(`${people[role].host}/app${path}`)
  await drawn(page)
}

/**
 * follow opens a page as a link of the page before it does, in a fifth of the time: the program is not read again. A
 * page of the same kind as the one before is opened as its address says.
 */
export async function follow(page: Page, role: Role, path: string) {
  const { host } = people[role]
  const left = page.url().startsWith(`${host}/app`) && (await page.locator('main h1').count()) > 0
  if (!left) return goTo(page, role, path)
  await page.evaluate((to) => {
    document.querySelector('main h1')?.setAttribute('data-left', '')
    history.pushState(null, '', to)
  }, `/app${path}`)
  const other = page.waitForFunction(() => !document.querySelector('main [data-left]'), null, { timeout: 5_000 })
  if (!(await other.then(() => true, () => false))) return goTo(page, role, path)
  await drawn(page)
}

/** drawn waits for a page's name and for what it reads first. */
export async function drawn(page: Page) {
  await page.locator('main h1, main p').first().waitFor()
  await page.waitForFunction(() => {
    const h1 = document.querySelector('main h1')
    const reading = document.querySelector(
      'main :is([role=status][aria-label="Loading"], .mantine-Skeleton-root, [aria-busy=true], .chart:not(:has(canvas)))',
    )
    return !reading && (!h1 || h1.textContent !== '')
  })
}

/** call asks the API from within a page, as the person who is signed in there. */
export async function call<Body = unknown>(page: Page, method: string, path: string, body?: object) {
  return page.evaluate(
    async ([method, path, body]) => {
      const answer = await fetch(path, {
        method,
        body,
        headers: body === undefined ? {} : { 'Content-Type': 'application/json', 'Idempotency-Key': crypto.randomUUID() },
      })
      return { status: answer.status, body: (await answer.json().catch(() => null)) as Body }
    },
    [method, path, body && JSON.stringify(body)] as const,
  )
}

/** Row is a row of a list; flows look at what the program says, and not at its types. */
export interface Row {
  id: string
  [name: string]: unknown
}

/** firstOf gives the first row of a list. */
export async function firstOf(page: Page, path: string): Promise<Row> {
  const { status, body } = await call<{ data: Row[] }>(page, 'GET', path)
  expect(status, path).toBe(200)
  const row = body.data[0]
  if (!row) throw new Error(`${path} has no row`)
  return row
}

/** withoutPower asks the demo's router without power as often as it takes until nobody asks it any more. */
export async function withoutPower(page: Page): Promise<string> {
  const { body } = await call<{ data: Row[] }>(page, 'GET', '/nas/devices?limit=100')
  const dead = body.data.find((r) => r.name === 'hill-east')
  for (let asked = 0; asked < 6; asked++) await call(page, 'GET', `/nas/devices/${dead?.id}/resource`)
  return String(dead?.id)
}

/** simulate drives the simulated payment provider, the simulated routers, devices or tax authority. */
export async function simulate(method: string, url: string, body: object) {
  const answer = await fetch(url, { method, body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } })
  expect(answer.ok, `${method} ${url}: ${answer.status}`).toBe(true)
}

/** unpaid makes a customer with a plan, an invoice and a phone of a simulated network. */
export async function unpaid(page: Page, name: string, behaviour: 'pay' | 'cancel' = 'pay'): Promise<Row & { phone: string; due: number }> {
  const phone = `2547${String(Date.now()).slice(-8)}`
  await simulate('PUT', `${at.provider}/sim/phones/${phone}`, { behaviour })
  const made = await call<Row>(page, 'POST', '/subscribers', { firstName: name, lastName: 'Nyumba', phone: `+${phone}` })
  expect(made.status).toBe(201)
  const { body: plans } = await call<{ data: Row[] }>(page, 'GET', '/plans?limit=100')
  const plan = plans.data.find((p) => p.code === 'home-10')
  const added = await call(page, 'POST', '/subscriptions', { subscriberId: made.body.id, planId: plan?.id })
  expect(added.status).toBe(201)
  const open = `/invoices?subscriberId=${made.body.id}&state=issued`
  await expect.poll(async () => (await call<{ data: Row[] }>(page, 'GET', open)).body.data).toHaveLength(1)
  const invoice = await firstOf(page, open)
  return { ...made.body, phone, due: Number(invoice.due) }
}

const axe = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Violation {
  id: string
  help: string
  nodes: { target: unknown[]; failureSummary: string }[]
}

const everything = { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }
const colours = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] }

/**
 * violations finds what keeps people with other needs out: WCAG 2.2 A and AA, and good practice; or only those rules
 * that look at colours.
 */
export async function violations(page: Page, only: 'everything' | 'colours' = 'everything'): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(await axe)
  const found = await page.evaluate(async (runOnly) => {
    const { axe } = window as unknown as { axe: { run: (of: Document, o: object) => Promise<{ violations: Violation[] }> } }
    return (await axe.run(document, { runOnly, resultTypes: ['violations'] })).violations
  }, only === 'colours' ? colours : everything)
  return found.flatMap((v) => v.nodes.slice(0, 3).map((n) => `${v.id}: ${v.help}\n  ${n.target.join(' ')}\n  ${n.failureSummary}`))
}

/** expectNoViolations fails with them. */
export async function expectNoViolations(page: Page, where = page.url()) {
  expect(await violations(page), where).toEqual([])
}

/** sideways is how many pixels a page is wider than its window. */
export const sideways = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth)

/** expectNoSideways fails when a page is wider than its window. */
export async function expectNoSideways(page: Page, where = page.url()) {
  expect(await sideways(page), `${where}: wider than the window`).toBeLessThanOrEqual(0)
}

/** codeTo waits for the newest code to an address. */
export async function codeTo(page: Page, address: string): Promise<string> {
  let code = ''
  await expect.poll(async () => {
    const { body } = await call<{ data: { template: string; text: string }[] }>(page, 'GET', `/dev/messages?to=${encodeURIComponent(address)}`)
    code = /\b\d{6}\b/.exec(body.data.find((m) => ['sign_in_code', 'address_code'].includes(m.template))?.text ?? '')?.[0] ?? ''
    return code
  }).not.toBe('')
  return code
}
