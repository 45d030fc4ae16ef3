import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { button, dialogOf, faultBeside, field, isBack, told, writesOf } from './hands'
import { call, expectNoViolations, firstOf, flow, goTo, signIn } from './kit'

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
  const { id } = await firstOf(page, '/subscribers?status=active')
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

flow('an amount with its marks in other places is told as it is to be typed, stays, and is not sent', async ({ page }) => {
  await signIn(page, 'admin')
  const { id } = await firstOf(page, '/subscribers?q=ironwood')
  await goTo(page, 'admin', `/customers/${id}`)
  await page.keyboard.press('p')
  const dialog = dialogOf(page)
  const amount = dialog.getByRole('textbox', { name: 'Amount' })
  await expect.poll(() => amount.evaluate((e) => e === document.activeElement)).toBe(true)
  const writes = writesOf(page)
  for (const [typed, says] of [
    ['1500,50', 'Type 1500.50.'],
    ['1.500,50', 'Type 1500.50.'],
    ['1.500', 'Type 1500 or 1.5.'],
    ['1e3', 'Type 1000.'],
    ['elfu', 'This is no number. Type it in digits, such as 1500.50.'],
  ] as const) {
    for (const type of [() => amount.fill(typed), async () => {
      await amount.fill('')
      await amount.pressSequentially(typed)
    }]) {
      await type()
      await amount.press('Enter')
      await faultBeside(amount, new RegExp(says.replace(/\./g, '\\.')))
      expect(await amount.inputValue()).toBe(typed)
    }
  }
  expect(writes).toEqual([])
  for (const [typed, shown] of [['1,500', '1,500'], ['1,500.50', '1,500.50'], ['2 500', '2,500'], ['٧٥٠', '750']] as const) {
    await amount.fill(typed)
    await amount.press('Tab')
    expect(await amount.inputValue()).toBe(shown)
    expect(await amount.getAttribute('aria-invalid')).not.toBe('true')
  }
  await amount.press('ArrowUp')
  expect(await amount.inputValue()).toBe('751')
})

flow('while nothing can be saved the page System says what Home says, and both forget it after', async ({ page }) => {
  await signIn(page, 'admin')
  const { body: report } = await call<{ faults: object[] }>(page, 'GET', '/reports/today')
  const fault = {
    kind: 'nothing_saved', root: { type: 'part', id: null, name: 'the platform' }, since: null, customers: null, offBehind: null,
    message: 'Nothing can be saved at the moment.', words: null, effects: [],
  }
  await page.route('**/reports/today*', (route) => route.fulfill({ json: { ...report, faults: [fault, ...report.faults] } }))
  await page.clock.install()
  await goTo(page, 'admin', '/')
  const says = ['Nothing can be saved at the moment', 'Tell the platform’s operator, and save again later.']
  const main = page.getByRole('main')
  for (const words of says) await main.getByText(words).first().waitFor()
  await goTo(page, 'admin', '/system')
  await page.getByRole('heading', { level: 1, name: 'System' }).waitFor()
  for (const words of says) await main.getByText(words).first().waitFor()
  await expectNoViolations(page)
  await page.unroute('**/reports/today*')
  await page.clock.fastForward(10_000) // what is down is asked for more often than each minute
  await main.getByText(says[0]!).waitFor({ state: 'detached' })
  await goTo(page, 'admin', '/')
  expect(await main.getByText(says[0]!).count()).toBe(0)
})

flow('a number of a policy that is taken away is not zero, and nothing is tried with one that stands nowhere', async ({ page }) => {
  await signIn(page, 'admin')
  await goTo(page, 'admin', '/policies')
  const grace = page.getByRole('textbox', { name: 'Days of grace' })
  const before = await grace.inputValue()
  const writes = writesOf(page)
  await grace.fill('')
  await grace.press('Enter')
  await faultBeside(grace, /A number is needed here/)
  await grace.press('Tab')
  expect(await grace.inputValue()).toBe('')
  await grace.fill('3,5')
  await button(page, 'Try it').click()
  await faultBeside(grace, /must be a whole number/)
  expect(writes).toEqual([])
  await grace.fill(before)
  await grace.press('Tab')
  expect(await grace.getAttribute('aria-invalid')).not.toBe('true')
})
