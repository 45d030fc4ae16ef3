import { Button, Group, Skeleton, Text, VisuallyHidden } from '@mantine/core'
import { type ColumnDef, getCoreRowModel, useReactTable } from '@tanstack/react-table'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type CSSProperties, type KeyboardEvent, memo, type ReactNode, useEffect, useRef } from 'react'
import type { Rows } from '../api/rows'
import { useText } from '../text/catalogue'
import { uiText } from '../text/ui'
import { Late } from './Late'
import { ProblemNote } from './ProblemNote'

/** Column is one column of a DataTable. */
export interface Column<R> {
  id: string
  /** title may be empty where the column has buttons; readers hear that it has. */
  title: string
  cell: (row: R) => ReactNode
  /** figures stand at the right, with tabular digits. */
  figure?: boolean
  /** width in pixels; without one the column takes what is left. */
  width?: number
  /** narrow is the width on narrow screens, where the usual one would leave nothing to the others. */
  narrow?: number
  /** narrow screens leave the column out. */
  wideOnly?: boolean
}

const rowHeight = 32
const ahead = 30

/**
 * DataTable shows a list of any length: only the rows on the screen are drawn, and the next page is read before the
 * end is reached. Arrow keys move along the rows, Enter opens one. The first link or button of a row is its own.
 */
export function DataTable<R>({ list, columns, rowKey, empty, label, whole }: {
  list: Rows<R>
  columns: Column<R>[]
  rowKey: (row: R) => string
  /** empty is shown when the list has no row. */
  empty: ReactNode
  /** label names the table for those who cannot see it. */
  label: string
  /** whole tables are short: they stand in the page and do not scroll by themselves. */
  whole?: boolean
}) {
  const t = useText(uiText)
  const frame = useRef<HTMLDivElement>(null)
  const { rows } = list
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: () => rowHeight,
    overscan: 12,
  })
  const shown = virtual.getVirtualItems()
  // The table has the rows on the screen alone: one of all rows would be made anew whenever a page comes.
  const table = useReactTable({
    data: shown.flatMap(({ index }) => rows[index] ?? []),
    columns: columns.map((c): ColumnDef<R> => ({ id: c.id, header: c.title })),
    getCoreRowModel: getCoreRowModel(),
    // There is no state of pages to reset; without this, rows that are made anew at each drawing would draw for ever.
    autoResetAll: false,
    getRowId: rowKey,
  })
  const drawn = table.getRowModel().rows
  const last = shown.at(-1)?.index ?? 0
  const { more, hasMore } = list
  useEffect(() => {
    if (hasMore && last >= rows.length - ahead) more()
  }, [last, rows.length, hasMore, more])

  const onKeyDown = (e: KeyboardEvent) => {
    const step = e.key === 'ArrowDown' ? 1 : e.key === 'ArrowUp' ? -1 : 0
    const at = (e.target as HTMLElement).closest('tr')?.dataset.index
    if (step === 0 || at === undefined) return
    e.preventDefault()
    const next = Math.min(rows.length - 1, Math.max(0, Number(at) + step))
    virtual.scrollToIndex(next)
    requestAnimationFrame(() => {
      frame.current?.querySelector<HTMLElement>(`tr[data-index="${next}"] :is(a, button)`)?.focus()
    })
  }

  if (list.error && rows.length === 0) return <ProblemNote of={list.error} retry={list.refetch} />
  if (list.isPending) {
    return (
      <Late height={rowHeight * 10}>
        <div role="status" aria-label={t.loading}>
          {Array.from({ length: 9 }, (_, i) => <Skeleton key={i} height={rowHeight - 8} my={8} radius="sm" />)}
        </div>
      </Late>
    )
  }
  if (rows.length === 0) return <>{empty}</>
  const before = shown[0]?.start ?? 0
  const after = virtual.getTotalSize() - (shown.at(-1)?.end ?? 0)
  return (
    <div className="rows">
      {list.error ? <ProblemNote of={list.error} retry={list.more} /> : null}
      {list.changes > 0 && (
        <Group gap="xs" mb={4} role="status">
          <Text size="sm" c="dimmed">{t.changed(list.changes)}</Text>
          <Button size="compact-xs" variant="light" onClick={list.refetch}>{t.showChanges}</Button>
        </Group>
      )}
      <div className={whole ? 'rows-frame whole-frame' : 'rows-frame'} ref={frame} tabIndex={-1}>
        <table aria-label={label} aria-rowcount={hasMore ? -1 : rows.length + 1} onKeyDown={onKeyDown}>
          <thead>
            <tr>
              {columns.map((c) => (
                <th key={c.id} scope="col" className={classOf(c)} style={widthsOf(c)}>
                  {c.title || <VisuallyHidden>{t.actions}</VisuallyHidden>}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {before > 0 && <tr aria-hidden style={{ height: before }} />}
            {drawn.map((row, at) => (
              <Line key={row.id} of={row.original} index={shown[at]?.index ?? 0} columns={columns} />
            ))}
            {after > 0 && <tr aria-hidden style={{ height: after }} />}
          </tbody>
        </table>
      </div>
      <Group justify="space-between" mt={6} mih={24}>
        <Text size="xs" c="dimmed">{t.rows(rows.length, hasMore)}</Text>
        {list.isFetchingMore && <Text size="xs" c="dimmed" role="status">{t.loading} …</Text>}
      </Group>
    </div>
  )
}

// Line is one row. While a list is scrolled, the rows that stay on the screen are not drawn again.
const Line = memo(LineOf) as typeof LineOf

function LineOf<R>({ of, index, columns }: { of: R; index: number; columns: Column<R>[] }) {
  return (
    <tr data-index={index} aria-rowindex={index + 2}>
      {columns.map((c) => <td key={c.id} className={classOf(c)}>{c.cell(of)}</td>)}
    </tr>
  )
}

const classOf = (c: { figure?: boolean; wideOnly?: boolean }) =>
  [c.figure && 'figure', c.wideOnly && 'wide-only'].filter(Boolean).join(' ')

// The style sheet takes one of the two, by the width of the screen.
function widthsOf<R>({ width, narrow = width }: Column<R>): CSSProperties {
  const px = (n: number | undefined) => (n === undefined ? 'auto' : `${n}px`)
  return { '--wide': px(width), '--narrow': px(narrow) } as CSSProperties
}
