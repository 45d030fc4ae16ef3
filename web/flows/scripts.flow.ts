import { expect } from 'vitest'
import { button, dialogOf, faultBeside, field, told } from './hands'
import { at, expectNoSideways, expectNoViolations, flow, goTo, phone, signIn, visit } from './kit'

flow('a script is refused with its line, written, read by support without a button, replaced and deleted', async ({ page }) => {
  await signIn(page, 'admin', '/device-scripts')
  const main = page.getByRole('main')
  const dialog = dialogOf(page)
  const name = `flow-${Date.now()}`
  await button(main, 'New script').first().click()
  await page.locator('input[type=file]').setInputFiles({ name: `${name}.js`, mimeType: 'text/javascript', buffer: Buffer.from('const now = Date.now();\nconst = 1;\n') })
  const script = field(dialog, 'Script')
  await expect.poll(() => script.inputValue()).toContain('const = 1;')
  expect(await field(dialog, 'Name').inputValue()).toBe(name)
  await field(dialog, 'Name').fill('no name')
  await faultBeside(field(dialog, 'Name'), /Only letters/)
  expect(await button(dialog, 'Send to the CPE server').isDisabled()).toBe(true)
  await field(dialog, 'Name').fill(name)
  await button(dialog, 'Send to the CPE server').click()
  await faultBeside(script, /^Line 2: const = 1;$/)
  await dialog.getByRole('alert').getByText(/^Line 2 of the script/).waitFor()
  expect(await script.evaluate((e: HTMLTextAreaElement) => e.value.slice(e.selectionStart, e.selectionEnd))).toBe('const = 1;')
  await expectNoSideways(page)
  await expectNoViolations(page, 'the dialog of the script')
  await script.fill('log("here");')
  await button(dialog, 'Send to the CPE server').click()
  await told(page, 'The script is in use.')
  await page.getByRole('heading', { level: 1, name }).waitFor()
  await main.getByRole('status').getByText('In use').waitFor()
  await main.getByText('log("here");').waitFor()
  await expectNoSideways(page)
  await expectNoViolations(page)

  const staff = await visit()
  try {
    await signIn(staff.page, 'support', '/device-scripts')
    const read = staff.page.getByRole('main')
    await read.getByRole('link', { name }).click()
    await read.getByText('log("here");').waitFor()
    for (const act of ['New script', 'Replace', 'Delete']) expect(await button(read, act).count(), act).toBe(0)
  } finally {
    await staff.context.close()
  }

  await button(main, 'Replace').click()
  await script.fill('log("there");')
  await button(dialog, 'Send to the CPE server').click()
  await main.getByText('log("there");').waitFor()
  await goTo(page, 'admin', '/device-scripts')
  await button(main, 'New script').click()
  await field(dialog, 'Name').fill(name)
  await faultBeside(field(dialog, 'Name'), /Open it to replace it/)
  await page.keyboard.press('Escape')
  await main.getByRole('link', { name }).click()
  await button(main, 'Delete').click()
  await button(dialog, 'Delete').click()
  await told(page, 'The script is deleted.')
  await page.waitForURL(`${at.isp}/app/device-scripts`)
  // The CPE server has to give it up first.
  await expect.poll(() => main.getByRole('link', { name }).count()).toBe(0)
}, phone)
