// The platform opts in to the provider's bill manager, which is simulated.
import { expect } from 'vitest'
import { button, confirms, dialogOf, told } from './hands'
import { at, call, expectNoSideways, expectNoViolations, flow, goTo, phone, signIn, simulate } from './kit'

interface OptIn { state: string; reminders: boolean; since: string | null }

const faults = `${at.provider}/sim/faults`

flow('the platform opts in, is told what the provider refuses, and changes the reminders by opting in again', async ({ page }) => {
  await signIn(page, 'root', '/bill-manager')
  const now = async () => (await call<OptIn>(page, 'GET', '/bill-manager/opt-in')).body
  const { state } = await now()
  expect(['not_opted_in', 'opted_in']).toContain(state)
  const main = page.locator('main')
  await main.getByText('bills@lastmile.localhost', { exact: true }).waitFor()
  await main.getByText(/\/webhooks\/billmanager\/payment$/).waitFor()
  await expectNoViolations(page, 'before')
  await page.getByRole('navigation', { name: 'Menu' }).getByRole('link', { name: 'Bill manager' }).waitFor()

  if (state === 'not_opted_in') {
    await simulate('PUT', faults, { refuseOptIn: true })
    try {
      await button(main, 'Opt in').click()
      await main.getByRole('alert').getByText(/Shortcode is not enrolled/).waitFor()
      await expectNoViolations(page, 'refused')
      expect((await now()).state).toBe('not_opted_in')
    } finally {
      await simulate('PUT', faults, { c2bAlso: true })
    }
    await button(main, 'Opt in').dblclick()
    await told(page, 'The bill manager knows the platform.')
  }
  await main.getByText('Opted in', { exact: true }).waitFor()
  const before = await now()
  expect(before.state).toBe('opted_in')

  const turns = async () => {
    await main.getByRole('switch', { name: 'The bill manager reminds customers' }).click()
    await button(main, 'Opt in again').click()
    await dialogOf(page).getByText('The provider gives another key').waitFor()
    await expectNoViolations(page, 'the question')
    await confirms(page, 'Opt in again')
  }
  await turns()
  await expect.poll(async () => (await now()).reminders).toBe(!before.reminders)
  await main.getByText(before.reminders ? 'It reminds nobody' : /^The bill manager reminds customers 7/).waitFor()
  await expectNoViolations(page, 'opted in')
  await turns() // as it was
  await expect.poll(async () => (await now()).reminders).toBe(before.reminders)
  expect((await now()).since).not.toBe(before.since)

  // Organizations have no such page.
  await signIn(page, 'admin', '/bill-manager')
  expect(await button(page, /^Opt in/).count()).toBe(0)
  await goTo(page, 'admin', '/bills')
  await page.getByRole('navigation', { name: 'Menu' }).getByRole('link', { name: 'Bill manager' }).waitFor()
})

flow('the opt-in fits a phone, in Swahili', async ({ page }) => {
  await page.addInitScript(() => localStorage.setItem('lastmile.language', 'sw'))
  await signIn(page, 'root', '/bill-manager')
  await page.getByText('Anachopewa mtoa huduma ya malipo').waitFor()
  await expectNoSideways(page)
  await expectNoViolations(page)
}, phone)
