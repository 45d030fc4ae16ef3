import { Button } from '@mantine/core'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { customerText } from '../../text/customer'
import { portalText } from '../../text/portal'
import { subscribersText } from '../../text/subscribers'
import { ActionMenu } from '../../ui/ActionMenu'
import { Ban, Download, Pencil, Plus, Scale, ScrollText, Smartphone, User } from '../../ui/icons'
import { useDo } from './doing'
import type { Customer } from './words'

/** CustomerActions is what can be done with a customer: the usual two as buttons, the rest in a menu. */
export function CustomerActions({ of: c }: { of: Customer }) {
  const t = useText(customerText)
  const words = useText(subscribersText)
  const portal = useText(portalText)
  const may = useMay()
  const begin = useDo()
  if (c.status === 'forgotten') return null
  const actions = [
    may('POST /subscriptions') && {
      key: 'add', label: t.addService, icon: <Plus size={14} aria-hidden />, onClick: () => begin({ act: 'add_service' }),
    },
    may('POST /invoices') && {
      key: 'invoice', label: t.invoice, icon: <ScrollText size={14} aria-hidden />, onClick: () => begin({ act: 'invoice' }),
    },
    may('POST /subscribers/{id}/portal-access') && {
      key: 'portal', label: portal.action, icon: <Smartphone size={14} aria-hidden />, onClick: () => begin({ act: 'portal' }),
    },
    c.balance > 0 && may('POST /subscribers/{id}/write-off') && {
      key: 'write_off', label: t.writeOff, danger: true, icon: <Scale size={14} aria-hidden />, onClick: () => begin({ act: 'write_off' }),
    },
    c.status === 'blocked' && may('POST /subscribers/{id}/unblock') && {
      key: 'unblock', label: t.unblock, icon: <Ban size={14} aria-hidden />, onClick: () => begin({ act: 'unblock' }),
    },
    c.status === 'active' && may('POST /subscribers/{id}/block') && {
      key: 'block', label: t.block, danger: true, icon: <Ban size={14} aria-hidden />, onClick: () => begin({ act: 'block' }),
    },
    may('GET /subscribers/{id}/personal-data') && {
      key: 'personal_data', label: t.personalData, icon: <Download size={14} aria-hidden />, onClick: () => begin({ act: 'personal_data' }),
    },
    may('POST /subscribers/{id}/forget') && {
      key: 'forget', label: t.forget, danger: true, icon: <User size={14} aria-hidden />, onClick: () => begin({ act: 'forget' }),
    },
  ].filter((action) => action !== false)
  return (
    <>
      {may('POST /payments/initiate') && (
        <Button
          variant="default"
          leftSection={<Smartphone size={14} aria-hidden />}
          aria-keyshortcuts="p"
          onClick={() => begin({ act: 'take_payment' })}
        >
          {t.pay}
        </Button>
      )}
      {may('PATCH /subscribers/{id}') && (
        <Button
          variant="default"
          leftSection={<Pencil size={14} aria-hidden />}
          aria-keyshortcuts="e"
          onClick={() => begin({ act: 'edit' })}
        >
          {words.edit}
        </Button>
      )}
      {actions.length > 0 && <ActionMenu label={t.more} actions={actions} button={{ size: 30, variant: 'default' }} />}
    </>
  )
}
