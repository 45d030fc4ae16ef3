import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { besideOthers, drawn, expectNoViolations, firstOf, follow, goTo, phone, type Role, sideways, signIn, violations } from './kit'
import { pathOf, screens } from './screens'

// The forms in which a page is looked at, one after the other, without being read again: colours first, then the width.
// Dark is light in other colours.
const forms = [
  { name: 'light', rules: 'everything', take: (page: Page) => inColours(page, 'light') },
  { name: 'dark', rules: 'colours', take: (page: Page) => inColours(page, 'dark') },
  { name: 'on a phone', rules: 'everything', take: (page: Page) => page.setViewportSize(phone.viewport) },
] as const

type Form = (typeof forms)[number]

/** inColours has the page take the colours of a device, and waits until it has them. */
async function inColours(page: Page, colorScheme: 'light' | 'dark') {
  await page.emulateMedia({ colorScheme })
  if (page.url() === 'about:blank') return
  await page.waitForFunction((c) => document.documentElement.dataset.mantineColorScheme === c, colorScheme)
}

/** inEachForm looks at what a page shows, and gives what is wrong with it in any form. */
async function inEachForm(page: Page, look: (form: Form) => Promise<string[]>) {
  const desk = page.viewportSize()
  const faults: string[] = []
  for (const form of forms) {
    await form.take(page)
    await drawn(page)
    faults.push(...(await look(form)).map((fault) => `${form.name}: ${fault}`))
  }
  await inColours(page, 'light')
  if (desk) await page.setViewportSize(desk)
  return faults
}

/** faultsOf finds what keeps somebody from using a page, which follows the size of its window within a moment. */
async function faultsOf(page: Page, form: Form) {
  await page.waitForFunction(() => document.documentElement.scrollWidth <= innerWidth, null, { timeout: 2_000 }).catch(() => undefined)
  const text = await page.locator('main').innerText()
  const wrong = /There is no such page|This page has failed|Your role does not show/.exec(text) ?? []
  const wide = await sideways(page)
  return [...wrong, ...(wide > 0 ? [`${wide} pixels wider than the window`] : []), ...(await violations(page, form.rules))]
}

// How many screens one window looks at: so few that it is done in time on a slow machine, too.
const most = 12

const looks = (['admin', 'support', 'root'] satisfies Role[]).flatMap((role) => {
  const own = screens.filter((s) => s.role === role)
  return Array.from({ length: Math.ceil(own.length / most) }, (_, n) => ({ role, part: own.slice(n * most, (n + 1) * most) }))
})

for (const { role, part } of looks) {
  const names = part.length === 1 ? part[0]?.name : `${part[0]?.name} to ${part.at(-1)?.name}`
  besideOthers(`everybody can use the screens of ${role}, light, dark and on a phone: ${names}`, async ({ page }) => {
    await signIn(page, role)
    const faults: string[] = []
    for (const screen of part) {
      try {
        await follow(page, role, await pathOf(screen, page))
        faults.push(...(await inEachForm(page, (form) => faultsOf(page, form))).map((fault) => `${screen.name}, ${fault}`))
      } catch (cause) {
        faults.push(`${screen.name}: ${String(cause)}`)
      }
    }
    expect(faults).toEqual([])
  })
}

for (const form of forms) {
  besideOthers(`everybody can use the sign-in, the search and the menu, ${form.name}`, async ({ page }) => {
    await form.take(page)
    await signIn(page, 'admin')
    await page.keyboard.press('/')
    await page.getByRole('combobox', { name: 'Search' }).fill('house')
    await page.getByRole('option').first().waitFor()
    await expectNoViolations(page, `search, ${form.name}`)
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Your account' }).click()
    await page.getByRole('menuitem', { name: 'Calls behind this page' }).waitFor()
    await expectNoViolations(page, `the menu, ${form.name}`)
    await page.getByRole('menuitem', { name: 'Calls behind this page' }).click()
    await page.getByRole('dialog').getByText('/auth/me').first().waitFor()
    await expectNoViolations(page, `calls, ${form.name}`)
    await goTo(page, 'admin', '/staff')
    await page.getByRole('button', { name: 'Add somebody' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).waitFor()
    await expectNoViolations(page, `a dialog, ${form.name}`)
    await page.context().clearCookies()
    await page.reload()
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    await expectNoViolations(page, `sign-in, ${form.name}`)
  })
}

// The dialogs of a page, by the button that opens each.
const dialogs: [path: string | ((page: Page) => Promise<string>), ...buttons: RegExp[]][] = [
  [async (page) => `/customers/${(await firstOf(page, '/subscribers?q=hibiscus')).id}`, /^Take payment/, /^Edit/],
  [async (page) => `/invoices/${(await firstOf(page, '/invoices?state=issued')).id}`, /^Void/, /^Credit note/],
  [async (page) => `/receipts/${(await firstOf(page, '/receipts?state=allocated')).id}`, /^Move/, /^Refund/, /^Take back/],
  [async (page) => `/plans/${(await firstOf(page, '/plans?archived=false')).id}`, /^Archive/],
  [async (page) => `/routers/${(await firstOf(page, '/nas/devices')).id}`, /^Reboot/],
  [async (page) => `/sessions/${(await firstOf(page, '/sessions?online=true')).id}`, /^Disconnect/],
  [async (page) => `/staff/${(await firstOf(page, '/users?role=support')).id}`, /^New temporary password/, /^Disable/],
  ['/policies', /^New policy/],
  ['/vouchers', /^Make vouchers/, /^Void a voucher/],
]

// The menus of a page, by the button that opens each.
const menus: [path: string | ((page: Page) => Promise<string>), button: RegExp][] = [
  [async (page) => `/customers/${(await firstOf(page, '/subscribers?q=hibiscus')).id}`, /^More$/],
  [async (page) => `/customers/${(await firstOf(page, '/subscribers?q=hibiscus')).id}`, /^What can be done with/],
  ['/dunning', /^What can be done for/],
]

besideOthers('everybody can use the menus, in light and dark and on a phone', async ({ page }) => {
  await signIn(page, 'admin')
  const faults: string[] = []
  for (const [path, name] of menus) {
    const place = typeof path === 'string' ? path : await path(page)
    await goTo(page, 'admin', place)
    await page.getByRole('main').getByRole('button', { name }).first().click()
    await page.getByRole('menuitem').first().waitFor()
    faults.push(...(await inEachForm(page, (form) => violations(page, form.rules))).map((fault) => `${place} ${String(name)}, ${fault}`))
  }
  expect(faults).toEqual([])
})

besideOthers('everybody can use the dialogs, in light and dark and on a phone, and Esc leads back to their button', async ({ page }) => {
  await signIn(page, 'admin')
  const faults: string[] = []
  for (const [path, ...buttons] of dialogs) {
    const place = typeof path === 'string' ? path : await path(page)
    await goTo(page, 'admin', place)
    for (const name of buttons) {
      const opens = page.getByRole('main').getByRole('button', { name }).first()
      // A customer can be paid from two places, of which the second one may be drawn first.
      const pressed = (await opens.elementHandle())!
      await pressed.click()
      await page.getByRole('dialog').getByRole('button').nth(1).waitFor()
      faults.push(...(await inEachForm(page, (form) => violations(page, form.rules))).map((fault) => `${place} ${String(name)}, ${fault}`))
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'hidden' })
      const back = page.waitForFunction((e) => e === document.activeElement, pressed, { timeout: 2_000 })
      if (!(await back.then(() => true, () => false))) faults.push(`${place} ${String(name)}: the focus is lost`)
    }
  }
  expect(faults).toEqual([])
})
