import { Button, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useRows } from '../../../api/rows'
import { apiKeysText } from '../../../text/apiKeys'
import { appText } from '../../../text/app'
import { useText } from '../../../text/catalogue'
import { type Column, DataTable } from '../../../ui/DataTable'
import { Empty } from '../../../ui/Empty'
import { Plus } from '../../../ui/icons'
import { Page } from '../../../ui/Page'
import { When } from '../../../ui/When'
import { type ApiKey, KeyState, LastUse, personOf } from './words'

const everyKey = {}

/** KeysPage answers: which programs act for this organization, how far, and which of them are still at it? */
export default function KeysPage() {
  const t = useText(apiKeysText)
  const app = useText(appText)
  const list = useRows('/api-keys', everyKey)
  const scopes = (k: ApiKey) => (k.scopes ? t.scopesOf(k.scopes.length) : t.all)
  const columns: Column<ApiKey>[] = [
    { id: 'name', title: t.name, cell: (k) => <Link to="/api-keys/$id" params={{ id: k.id }}>{k.name}</Link> },
    { id: 'state', title: t.state, width: 128, narrow: 124, cell: (k) => <KeyState of={k} /> },
    {
      id: 'may', title: t.may, width: 230, wideOnly: true,
      cell: (k) => <span title={k.scopes?.join(', ')}>{t.roles[k.role]}: {scopes(k)}</span>,
    },
    { id: 'by', title: t.by, width: 140, wideOnly: true, cell: (k) => personOf(k.createdBy) },
    { id: 'expires', title: t.expires, width: 130, wideOnly: true, cell: (k) => (k.expiresAt ? <When at={k.expiresAt} /> : t.never) },
    {
      id: 'from', title: t.from, width: 150, wideOnly: true,
      cell: (k) => <span title={k.allowedAddresses?.join(', ')}>{k.allowedAddresses?.join(', ') ?? t.everywhere}</span>,
    },
    { id: 'used', title: t.used, width: 190, wideOnly: true, cell: (k) => <LastUse of={k} /> },
  ]
  const make = (
    <Button
      leftSection={<Plus size={14} aria-hidden />}
      renderRoot={(props) => <Link {...props} to="/api-keys/new" />}
    >
      {t.make}
    </Button>
  )
  return (
    <Page title={app.apiKeys} wide actions={make}>
      <Text size="sm" c="dimmed">{t.hint}</Text>
      <DataTable
        list={list}
        columns={columns}
        rowKey={(k) => k.id}
        label={app.apiKeys}
        empty={<Empty title={t.none} docs={{ href: '/docs', label: app.apiReference }}>{t.noneHint}</Empty>}
      />
    </Page>
  )
}
