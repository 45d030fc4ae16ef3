import { ActionIcon, Button, Checkbox, Group, SegmentedControl, SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { settingsText } from '../../text/settings'
import { Plus, X } from '../../ui/icons'
import type { Fields } from './form'
import { type Component, exampleOf, rateOf } from './tax'

/** InvoiceFields say how invoices are numbered and which taxes they carry. */
export function InvoiceFields({ values, set, problem }: Fields) {
  const t = useText(settingsText)
  const f = useFormat()
  const example = exampleOf(1000, values.mode, values.components)
  const change = (at: number, part: Partial<Component>) =>
    set({ components: values.components.map((c, i) => (i === at ? { ...c, ...part } : c)) })
  return (
    <Stack gap="sm">
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
        <TextInput
          label={t.prefix}
          description={t.prefixHint(`${values.invoicePrefix || 'ISP'}-0124`)}
          value={values.invoicePrefix}
          onChange={(e) => set({ invoicePrefix: e.currentTarget.value.toUpperCase() })}
          error={problem?.of('invoicePrefix')}
          required
          withAsterisk={false}
          minLength={2}
          maxLength={6}
        />
        <TextInput
          label={t.taxPin}
          description={t.taxPinHint}
          value={values.taxPin}
          onChange={(e) => set({ taxPin: e.currentTarget.value })}
          error={problem?.of('taxPin')}
          maxLength={40}
        />
      </SimpleGrid>
      <div role="group" aria-label={t.taxMode}>
        <Text size="sm" fw={500} mb={4}>{t.taxMode}</Text>
        <SegmentedControl
          value={values.mode}
          onChange={(mode) => set({ mode: mode as 'inclusive' | 'exclusive' })}
          data={[
            { value: 'inclusive', label: t.modes.inclusive },
            { value: 'exclusive', label: t.modes.exclusive },
          ]}
          size="xs"
          maw="100%"
        />
        <Text size="sm" c="dimmed" mt={4}>
          {t.modeHints[values.mode]} {t.example(f.money(1000), f.money(example.tax), f.money(example.pays))}
        </Text>
      </div>
      <div role="group" aria-label={t.components}>
        <Text size="sm" fw={500} mb={4}>{t.components}</Text>
        {values.components.length === 0 && <Text size="sm" c="dimmed">{t.noTax}</Text>}
        <Stack gap="xs">
          {values.components.map((c, i) => (
            <Group key={i} gap="xs" align="flex-start">
              <TextInput
                aria-label={t.taxName}
                placeholder={t.taxName}
                value={c.name}
                onChange={(e) => change(i, { name: e.currentTarget.value })}
                required
                maxLength={40}
                w={{ base: 150, xs: 180 }}
              />
              <TextInput
                aria-label={t.rate}
                value={c.rate}
                onChange={(e) => change(i, { rate: e.currentTarget.value })}
                error={c.rate !== '' && rateOf(c.rate) === null && t.rateWrong}
                inputMode="decimal"
                rightSection={<Text size="sm" c="dimmed">%</Text>}
                required
                w={96}
              />
              <ActionIcon
                size="lg"
                aria-label={t.removeTax(c.name)}
                onClick={() => set({ components: values.components.filter((_, at) => at !== i) })}
              >
                <X size={16} aria-hidden />
              </ActionIcon>
              {i > 0 && (
                <Checkbox
                  label={t.compound}
                  checked={c.compound}
                  onChange={(e) => change(i, { compound: e.currentTarget.checked })}
                  mt={8}
                />
              )}
            </Group>
          ))}
        </Stack>
        {problem?.of('tax') && <Text size="sm" c="var(--tone-bad)">{problem.of('tax')}</Text>}
        <Button
          variant="subtle"
          mt={4}
          leftSection={<Plus size={14} aria-hidden />}
          onClick={() => set({ components: [...values.components, { name: '', rate: '', compound: false }] })}
        >
          {t.addTax}
        </Button>
      </div>
    </Stack>
  )
}
