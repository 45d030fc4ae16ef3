import { Link } from '@tanstack/react-router'
import { type Row, useRows } from '../../api/rows'
import { useText } from '../../text/catalogue'
import { customerText } from '../../text/customer'
import { useDescribe } from '../../text/statements'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { Balance, Money } from '../../ui/Money'
import { When } from '../../ui/When'
import { firstOf } from './first'
import { pageOf } from './words'

type Line = Row<'/subscribers/{id}/statement'>

/** Statement is every line of the account, with the balance after each; `first` shows only so many. */
export function Statement({ id, first }: { id: string; first?: number }) {
  const t = useText(customerText)
  const list = useRows('/subscribers/{id}/statement', {}, { path: { id } })
  const amount = (n: number, l: Line) => (n === 0 ? null : <Money amount={n} currency={l.currency} />)
  const columns: Column<Line>[] = [
    { id: 'at', title: t.at, width: first === undefined ? 160 : 126, narrow: 94, wideOnly: first !== undefined, cell: (l) => <When at={l.at} exact={first === undefined} /> },
    { id: 'what', title: t.what, cell: (l) => <What of={l} /> },
    { id: 'debit', title: t.debit, width: 96, figure: true, wideOnly: true, cell: (l) => amount(l.debit, l) },
    { id: 'credit', title: t.credit, width: 96, figure: true, wideOnly: true, cell: (l) => amount(l.credit, l) },
    { id: 'balance', title: t.balance, width: 120, narrow: 106, figure: true, cell: (l) => <Balance amount={l.balance} currency={l.currency} /> },
  ]
  return (
    <DataTable
      list={firstOf(list, first)}
      columns={columns}
      rowKey={(l) => `${l.cause.id}${l.kind}${l.at}${l.debit}${l.credit}`}
      label={t.statement}
      empty={<Empty title={t.noStatement}>{t.noStatementHint}</Empty>}
    />
  )
}

function What({ of: l }: { of: Line }) {
  const page = pageOf(l.cause)
  const says = useDescribe()(l)
  return page ? <Link to={page} title={says}>{says}</Link> : <span title={says}>{says}</span>
}
