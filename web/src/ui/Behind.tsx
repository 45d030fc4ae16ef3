import { Button, Text } from '@mantine/core'
import { type ReactNode, useEffect, useRef } from 'react'
import type { Rows } from '../api/rows'
import { behindText } from '../text/behind'
import { useText } from '../text/catalogue'
import { type Column, DataTable } from './DataTable'
import { Money } from './Money'
import { Section } from './Page'
import { useFocusBack } from './useFocusBack'
import { When } from './When'
import './behind.css'

/** Payment is what each row behind a sum has. */
interface Payment {
  receiptId: string | null
  voucherId?: string | null
  receiptNumber: string | null
  at: string
  amount: number
  currency: string
}

/**
 * Behind lists the payments that a sum is made of, below the sums. It comes into sight with the focus, and gives the
 * focus back to the figure when it is closed. Another sum is another one, by its key.
 */
export function Behind<R extends Payment>({ title, list, receipt, columns = [], booked, empty, onClose }: {
  title: string
  list: Rows<R>
  /** receipt is how a row says of which receipt it is; its number where it leads nowhere. */
  receipt?: (row: R) => ReactNode
  /** columns stand between the receipt and the time. */
  columns?: Column<R>[]
  /** booked is what the time is called beside others; narrow screens leave it out then. */
  booked?: string
  empty: string
  onClose: () => void
}) {
  const t = useText(behindText)
  const here = useRef<HTMLDivElement>(null)
  useFocusBack()
  useEffect(() => {
    here.current?.focus({ preventScroll: true })
  }, [])
  useEffect(() => {
    // Until the rows have come the page is too short for the list to be at its top. New browsers answer with a promise.
    void here.current?.scrollIntoView({ block: 'start' })
  }, [list.isPending])
  const all: Column<R>[] = [
    {
      id: 'receipt', title: t.receipt, ...(columns.length > 0 && { width: 150, narrow: 104 }),
      cell: receipt ?? ((r) => r.receiptNumber ?? t.noNumber),
    },
    ...columns,
    {
      id: 'at', title: booked ?? t.at, width: booked ? 168 : 150, narrow: 110, wideOnly: booked !== undefined,
      cell: (r) => <When at={r.at} exact={booked !== undefined} />,
    },
    {
      id: 'amount', title: t.amount, width: 150, narrow: 124, figure: true,
      cell: (r) => <Money amount={r.amount} currency={r.currency} />,
    },
  ]
  return (
    <div ref={here} tabIndex={-1} className="behind" role="group" aria-label={title}>
      <Section
        title={title}
        actions={<Button size="compact-sm" variant="subtle" onClick={onClose}>{t.close}</Button>}
      >
        <DataTable
          list={list}
          columns={all}
          rowKey={(r) => `${r.receiptId ?? r.voucherId} ${r.at} ${r.amount}`}
          label={title}
          empty={<Text size="sm" c="dimmed">{empty}</Text>}
        />
      </Section>
    </div>
  )
}
