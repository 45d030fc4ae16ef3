import { Link } from '@tanstack/react-router'
import { type Row, useRows } from '../../api/rows'
import { useText } from '../../text/catalogue'
import { customerText } from '../../text/customer'
import { useFormat } from '../../text/format'
import { useDescribe } from '../../text/statements'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { Balance, Money } from '../../ui/Money'
import { When } from '../../ui/When'
import { firstOf } from './first'
import { pageOf } from './words'
import './subscribers.css'

type Line = Row<'/subscribers/{id}/statement'>

/** Statement is every line of the account, with the balance after each; `first` shows only so many. */
export function Statement({ id, first }: { id: string; first?: number }) {
  const t = useText(customerText)
  const list = useRows('/subscribers/{id}/statement', {}, { path: { id } })
  const amount = (n: number, l: Line) => (n === 0 ? null : <Money amount={n} currency={l.currency} />)
  const columns: Column<Line>[] = [
    { id: 'at', title: t.at, width: first === undefined ? 190 : 108, wideOnly: true, cell: (l) => <When at={l.at} exact={first === undefined} /> },
    { id: 'what', title: t.what, cell: (l) => <><What of={l} /><Amount of={l} /></> },
    { id: 'debit', title: t.debit, width: 118, figure: true, wideOnly: true, cell: (l) => amount(l.debit, l) },
    { id: 'credit', title: t.credit, width: 118, figure: true, wideOnly: true, cell: (l) => amount(l.credit, l) },
    { id: 'balance', title: t.balance, width: 136, narrow: 106, figure: true, cell: (l) => <Balance amount={l.balance} currency={l.currency} /> },
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

/** Amount stands below the words on narrow screens, which have no room for the columns of date and amount. */
function Amount({ of: l }: { of: Line }) {
  const t = useText(customerText)
  const f = useFormat()
  const part = (n: number, name: string) => (n === 0 ? '' : ` · ${name} ${f.money(n, l.currency)}`)
  return <span className="line-amount figure"><When at={l.at} exact />{part(l.debit, t.charged)}{part(l.credit, t.paid)}</span>
}

function What({ of: l }: { of: Line }) {
  const page = pageOf(l.cause)
  const says = useDescribe()(l)
  return page ? <Link to={page} title={says}>{says}</Link> : <span title={says}>{says}</span>
}
