import { Group, Table, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { behindText } from '../../text/behind'
import { billingText } from '../../text/billing'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { Money } from '../../ui/Money'
import { Section } from '../../ui/Page'
import { amountOf, type Opened, type Place, type Sum } from './behind'
import type { Span } from './spans'

/** TotalRow is one sum of a table. */
interface TotalRow extends Sum {
  key: string
  /** name is what the sum is of, and label the same as words. */
  name: ReactNode
  label: string
  count: number
  place: Place
}

/** Totals is a table of sums. Each of them leads to the payments behind it. */
export function Totals({ title, name, rows, span, currency, empty }: {
  title: string
  name: string
  rows: TotalRow[]
  span: Span
  currency: string
  empty: string
}) {
  const t = useText(billingText)
  const b = useText(behindText)
  const f = useFormat()
  return (
    <Section title={title}>
      {rows.length === 0 ? <Text size="sm" c="dimmed">{empty}</Text> : (
        <Table verticalSpacing={6} withRowBorders={false} aria-label={title}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">{name}</Table.Th>
              <Table.Th scope="col" ta="right">{t.count}</Table.Th>
              <Table.Th scope="col" ta="right" visibleFrom="sm">{b.received}</Table.Th>
              <Table.Th scope="col" ta="right" visibleFrom="sm">{b.takenBack}</Table.Th>
              <Table.Th scope="col" ta="right">{t.amount}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          {rows.map((r) => {
            const figure = { sum: r, place: r.place, of: r.label, span, currency }
            return (
              <Table.Tbody key={r.key}>
                <Table.Tr>
                  <Table.Td>{r.name}</Table.Td>
                  <Table.Td ta="right" className="figure">
                    <Opener span={span} opened={{ ...r.place, side: 'all' }} label={`${b.all}, ${r.label}: ${f.number(r.count)}`}>
                      {f.number(r.count)}
                    </Opener>
                  </Table.Td>
                  <Table.Td ta="right" visibleFrom="sm"><Figure {...figure} side="received" /></Table.Td>
                  <Table.Td ta="right" visibleFrom="sm"><Figure {...figure} side="takenBack" /></Table.Td>
                  <Table.Td ta="right"><Money amount={r.total} currency={currency} /></Table.Td>
                </Table.Tr>
                <Table.Tr hiddenFrom="sm">
                  <Table.Td colSpan={3} pt={0}><Both {...figure} /></Table.Td>
                </Table.Tr>
              </Table.Tbody>
            )
          })}
        </Table>
      )}
    </Section>
  )
}

interface FigureOf {
  sum: Sum
  place: Place
  /** of is what the sum is of. */
  of: string
  span: Span
  currency: string
}

/** Both are the two sides of a sum in a line, with their names. */
export function Both(figure: FigureOf) {
  const t = useText(behindText)
  return (
    <Group gap="2px 16px">
      {(['received', 'takenBack'] as const).map((side) => (
        <Text key={side} size="sm" span>
          <Text span inherit c="dimmed">{t[side]}</Text> <Figure {...figure} side={side} />
        </Text>
      ))}
    </Group>
  )
}

/** Figure is one side of a sum; it leads to its payments where it has any. */
function Figure({ sum, side, place, of, span, currency }: FigureOf & { side: 'received' | 'takenBack' }) {
  const t = useText(behindText)
  const f = useFormat()
  const amount = amountOf(sum, side)
  const shown = <Money amount={amount} currency={currency} />
  if (amount === 0) return shown
  return (
    <Opener span={span} opened={{ ...place, side }} label={t.open(t[side], of, f.money(amount, currency))}>{shown}</Opener>
  )
}

/** Opener opens the payments of a figure below, and leaves the page where it is. */
function Opener({ span, opened, label, children }: { span: Span; opened: Opened; label: string; children: ReactNode }) {
  return (
    <Link
      to="/collections"
      search={{ ...span, ...opened }}
      activeOptions={{ exact: true }}
      resetScroll={false}
      aria-label={label}
    >
      {children}
    </Link>
  )
}
