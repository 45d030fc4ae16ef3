import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { button, dialogOf, field, isBack, told } from './hands'
import { firstOf, flow, goTo, signIn } from './kit'

// What is typed while a form saves would be in no write, and gone when the form shows what was saved.

/** heldBack keeps a write from the server until it is let go. */
async function heldBack(page: Page, path: string, method: string): Promise<() => void> {
  let letGo = () => {}
  const released = new Promise<void>((done) => (letGo = done))
  await page.route(`**${path}`, async (route) => {
    if (route.request().method() === method) await released
    await route.continue()
  })
  return () => letGo()
}

const saving = (page: Page) => page.locator('form[aria-busy=true]')

flow('while settings are saved nothing in their form changes, and the focus stays in its field', async ({ page }) => {
  await signIn(page, 'admin', '/organization')
  const pin = field(page, 'Tax PIN')
  const typed = `P${Date.now()}X`
  await pin.fill(typed)
  const letGo = await heldBack(page, '/settings/organization', 'PUT')
  await pin.press('Enter')
  await saving(page).waitFor()
  await page.keyboard.type('99')
  await button(page, 'Add a tax').click()
  expect(await button(page, /^Remove the tax/).count()).toBe(1)
  await pin.focus()
  letGo()
  await saving(page).waitFor({ state: 'detached' })
  expect(await pin.inputValue()).toBe(typed)
  await isBack(pin)
  await page.keyboard.type('9')
  expect(await pin.inputValue()).toBe(`${typed}9`)
  await button(page, 'Undo changes').click()
})

flow('a switch of the gateway stays as it was sent', async ({ page }) => {
  await signIn(page, 'admin', '/gateway')
  const reject = page.getByRole('switch')
  for (const wanted of [true, false]) {
    await reject.setChecked(wanted)
    const letGo = await heldBack(page, '/settings/payment-gateway', 'PUT')
    await button(page, 'Save').click()
    await saving(page).waitFor()
    await reject.click({ force: true })
    await reject.press(' ')
    letGo()
    await saving(page).waitFor({ state: 'detached' })
    expect(await reject.isChecked()).toBe(wanted)
  }
})

flow('a dialog that saves can be left, and takes nothing more', async ({ page }) => {
  await signIn(page, 'admin')
  const { id } = await firstOf(page, '/subscribers')
  await goTo(page, 'admin', `/customers/${id}`)
  const edit = button(page, 'Edit')
  const dialog = dialogOf(page)
  const notes = field(dialog, 'Notes')
  const [kept, left] = [`Kept ${Date.now()}`, `Left ${Date.now()}`]
  for (const text of [kept, left]) {
    await edit.click()
    await notes.fill(text)
    const letGo = await heldBack(page, `/subscribers/${id}`, 'PATCH')
    await button(dialog, 'Save').click()
    await saving(page).waitFor()
    await notes.pressSequentially(' and more')
    expect(await notes.inputValue()).toBe(text)
    if (text === left) await button(dialog, 'Cancel').click()
    letGo()
    await dialog.waitFor({ state: 'detached' })
    await isBack(edit)
  }
  await told(page, 'Saved.')
})

flow('what is typed into an amount that is proposed takes its place', async ({ page }) => {
  await signIn(page, 'admin')
  const { id } = await firstOf(page, '/subscribers?q=ironwood')
  await goTo(page, 'admin', `/customers/${id}`)
  await page.keyboard.press('p')
  const amount = page.getByRole('dialog').getByRole('textbox', { name: 'Amount' })
  await expect.poll(() => amount.evaluate((e) => e === document.activeElement)).toBe(true)
  expect(await amount.inputValue()).toMatch(/\d/)
  await page.keyboard.type('750')
  expect(await amount.inputValue()).toBe('750')
})
