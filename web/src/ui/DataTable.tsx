import { Button, Group, Skeleton, Text, VisuallyHidden } from '@mantine/core'
import { useIsFetching } from '@tanstack/react-query'
import { type ColumnDef, getCoreRowModel, useReactTable } from '@tanstack/react-table'
import { type CSSProperties, type KeyboardEvent, memo, type ReactNode, type RefObject, useEffect, useLayoutEffect, useMemo, useRef } from 'react'
import type { Rows } from '../api/rows'
import { useText } from '../text/catalogue'
import { uiText } from '../text/ui'
import { rowHeight, useDrawn } from './drawn'
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
  const { rows, hasMore } = list
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
  return (
    <div className="rows">
      {list.error ? <ProblemNote of={list.error} retry={list.more} /> : null}
      {list.changes > 0 && (
        <Group gap="xs" mb={4} role="status">
          <Text size="sm" c="dimmed">{t.changed(list.changes)}</Text>
          <Button size="compact-xs" variant="light" onClick={list.refetch}>{t.showChanges}</Button>
        </Group>
      )}
      <div className={whole ? 'rows-frame whole-frame' : 'rows-frame'} tabIndex={-1}>
        <table
          role="table"
          className={whole ? undefined : 'listed'}
          style={whole ? undefined : widthsOf(columns)}
          aria-label={label}
          aria-rowcount={hasMore ? -1 : rows.length + 1}
          onKeyDown={alongRows}
        >
          <thead role="rowgroup">
            <tr role="row">
              {columns.map((c) => (
                <th key={c.id} role="columnheader" scope="col" className={classOf(c)} style={whole ? widthOf(c) : undefined}>
                  {c.title || <VisuallyHidden>{t.actions}</VisuallyHidden>}
                </th>
              ))}
            </tr>
          </thead>
          <Body list={list} columns={columns} rowKey={rowKey} whole={whole} />
        </table>
      </div>
      <Group justify="space-between" mt={6} mih={24}>
        <Text size="xs" c="dimmed">{t.rows(rows.length, hasMore)}</Text>
        {list.queryKey && <Reading queryKey={list.queryKey} />}
      </Group>
    </div>
  )
}

/** Reading tells that the next page is being read. The page around the list is not drawn anew for it. */
function Reading({ queryKey }: { queryKey: readonly unknown[] }) {
  const t = useText(uiText)
  const reads = useIsFetching({ queryKey, exact: true, predicate: (q) => !!q.state.fetchMeta?.fetchMore })
  return reads > 0 && <Text size="xs" c="dimmed" role="status">{t.loading} …</Text>
}

/** alongRows moves the focus to the row before or after, which is drawn as long as the row with the focus is seen. */
function alongRows(e: KeyboardEvent) {
  const row = (e.target as HTMLElement).closest('tr')
  const next = e.key === 'ArrowDown' ? row?.nextElementSibling : e.key === 'ArrowUp' ? row?.previousElementSibling : null
  if (!row?.dataset.index || next === null) return
  e.preventDefault()
  next?.scrollIntoView({ block: 'nearest' })
  next?.querySelector<HTMLElement>('a, button')?.focus({ preventScroll: true })
}

/** Body has the rows. It alone is drawn anew while somebody scrolls. */
function Body<R>({ list, columns, rowKey, whole }: {
  list: Rows<R>
  columns: Column<R>[]
  rowKey: (row: R) => string
  whole: boolean | undefined
}) {
  const { rows, more, hasMore } = list
  const body = useRef<HTMLTableSectionElement>(null)
  const { from, to } = useDrawn(body, rows.length, whole)
  useSteady(body, rows, rowKey)
  const names = useMemo(() => columns.map((c): ColumnDef<R> => ({ id: c.id, header: c.title })), [columns])
  // The table has the rows on the screen alone: one of all rows would be made anew whenever a page comes.
  const table = useReactTable({
    data: useMemo(() => rows.slice(from, to), [rows, from, to]),
    columns: names,
    getCoreRowModel: getCoreRowModel(),
    // There is no state of pages to reset; without this, rows that are made anew at each drawing would draw for ever.
    autoResetAll: false,
    getRowId: rowKey,
  })
  useEffect(() => {
    if (hasMore && to >= rows.length - ahead) more()
  }, [to, rows.length, hasMore, more])
  const after = (rows.length - to) * rowHeight
  return (
    <tbody ref={body} role="rowgroup">
      {from > 0 && <tr aria-hidden style={{ height: from * rowHeight }} />}
      {table.getRowModel().rows.map((row) => (
        <Line key={row.id} of={row.original} index={from + row.index} columns={columns} />
      ))}
      {after > 0 && <tr aria-hidden style={{ height: after }} />}
    </tbody>
  )
}

// So many rows that come at once do not move what somebody reads.
const nearby = 100

/** useSteady keeps the rows on the screen where they are when others come or go above them. */
function useSteady<R>(body: RefObject<HTMLElement | null>, rows: R[], rowKey: (row: R) => string) {
  const before = useRef(rows)
  useLayoutEffect(() => {
    const old = before.current
    before.current = rows
    const frame = body.current?.closest<HTMLElement>('.rows-frame')
    const top = Math.floor((frame?.scrollTop ?? 0) / rowHeight)
    const seen = old[top]
    const next = old[top + 1]
    if (!frame || old === rows || top === 0 || !seen || !next) return
    const first = Math.max(0, top - nearby)
    const found = rows.slice(first, top + nearby).findIndex((r) => rowKey(r) === rowKey(seen))
    const at = first + found
    const following = rows[at + 1]
    // In another order, or by another filter, the list is another one.
    if (found < 0 || at === top || !following || rowKey(following) !== rowKey(next)) return
    frame.scrollTop += (at - top) * rowHeight
  }, [body, rows, rowKey])
}

// Line is one row. While a list is scrolled, the rows that stay on the screen are not drawn again.
const Line = memo(LineOf) as typeof LineOf

function LineOf<R>({ of, index, columns }: { of: R; index: number; columns: Column<R>[] }) {
  return (
    <tr role="row" data-index={index} aria-rowindex={index + 2}>
      {columns.map((c) => <td key={c.id} role="cell" className={classOf(c)}>{c.cell(of)}</td>)}
    </tr>
  )
}

const classOf = (c: { figure?: boolean; wideOnly?: boolean }) =>
  [c.figure && 'figure', c.wideOnly && 'wide-only'].filter(Boolean).join(' ')

// The style sheet takes one of the two, by the width of the screen.
function widthOf<R>({ width, narrow = width }: Column<R>): CSSProperties {
  const px = (n: number | undefined) => (n === undefined ? 'auto' : `${n}px`)
  return { '--wide': px(width), '--narrow': px(narrow) } as CSSProperties
}

/** widthsOf has the columns as lines of a grid: lists that scroll are no tables to the browser, which draws them faster. */
function widthsOf<R>(columns: Column<R>[]): CSSProperties {
  const lines = (widths: (number | undefined)[]) => {
    // On a wide screen all columns grow by the same factor, so that the second one is not far from the first.
    const line = (n: number | undefined) => (n === undefined ? 'minmax(0, 260fr)' : `minmax(${n}px, ${n}fr)`)
    return { lines: widths.map(line).join(' '), least: `${widths.reduce<number>((sum, n) => sum + (n ?? 0), 0)}px` }
  }
  const wide = lines(columns.map((c) => c.width))
  const narrow = lines(columns.filter((c) => !c.wideOnly).map((c) => c.narrow ?? c.width))
  return {
    '--wide': wide.lines, '--wide-least': wide.least, '--narrow': narrow.lines, '--narrow-least': narrow.least,
  } as CSSProperties
}
