// What flows of forms share: how a hand fills them in, and what it looks at.
import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'

/** dialogOf is the dialog above a page. */
export const dialogOf = (page: Page) => page.getByRole('dialog')

/** button finds a button by its name. */
export const button = (within: Page | Locator, name: string | RegExp) => within.getByRole('button', { name, exact: typeof name === 'string' })

/** field finds a field by its label. */
export const field = (within: Page | Locator, name: string | RegExp) => within.getByRole('textbox', { name, exact: typeof name === 'string' })

/** told waits for the sentence that says what was done, beside the button that takes it away. */
export async function told(page: Page, text: string | RegExp) {
  const notice = page.locator('.mantine-Notification-root').filter({ hasText: text }).first()
  await notice.waitFor()
  await notice.getByRole('button', { name: /^(Close|Funga)$/ }).waitFor()
}

/** faultBeside waits for the fault of a field. */
export async function faultBeside(what: Locator, text: RegExp) {
  const said = what.page().locator(`[id="${(await what.getAttribute('id')) ?? ''}-error"]`)
  await said.filter({ hasText: text }).waitFor()
}

/** isBack expects the focus where a dialog was opened from. */
export async function isBack(from: Locator) {
  await expect.poll(() => from.evaluate((e) => e === document.activeElement)).toBe(true)
}

/** focusIn waits until the focus is at a thing, or at a part of it. It expects nothing, so flows beside others can use it. */
export async function focusIn(page: Page, selector: string) {
  await page.waitForFunction((within) => document.activeElement?.closest(within) != null, selector)
}

/** confirms fills in the reason, and sends by two clicks what may happen once. */
export async function confirms(page: Page, verb: string, reason?: string) {
  const dialog = dialogOf(page)
  if (reason !== undefined) await field(dialog, 'Reason').fill(reason)
  await button(dialog, verb).dblclick()
  await dialog.waitFor({ state: 'hidden' })
}

/** writesOf collects the calls that change something. */
export function writesOf(page: Page): string[] {
  const writes: string[] = []
  page.on('request', (r) => {
    if (r.method() !== 'GET') writes.push(`${r.method()} ${new URL(r.url()).pathname.replace(/[0-9a-f-]{36}/g, '{id}')}`)
  })
  return writes
}

/** inMenu takes a line of a menu. */
export async function inMenu(page: Page, menu: Locator, line: string) {
  await menu.click()
  await page.getByRole('menuitem', { name: line, exact: true }).click()
}

/** pick chooses a line of a field that offers some. */
export async function pick(page: Page, what: Locator, typed: string, line: RegExp) {
  await what.click()
  if (typed) await what.fill(typed)
  await page.getByRole('option', { name: line }).first().click()
}
