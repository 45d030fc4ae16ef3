import { ActionIcon, Button, Menu } from '@mantine/core'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { customerText } from '../../text/customer'
import { subscribersText } from '../../text/subscribers'
import { Ban, EllipsisVertical, Pencil, Plus, ScrollText, Smartphone } from '../../ui/icons'
import { useDo } from './doing'
import type { Customer } from './words'

/** CustomerActions is what can be done with a customer: the usual two as buttons, the rest in a menu. */
export function CustomerActions({ of: c }: { of: Customer }) {
  const t = useText(customerText)
  const words = useText(subscribersText)
  const may = useMay()
  const begin = useDo()
  if (c.status === 'forgotten') return null
  const items = [
    may('POST /subscriptions') && (
      <Menu.Item key="add" leftSection={<Plus size={14} aria-hidden />} onClick={() => begin({ act: 'add_service' })}>{t.addService}</Menu.Item>
    ),
    may('POST /invoices') && (
      <Menu.Item key="invoice" leftSection={<ScrollText size={14} aria-hidden />} onClick={() => begin({ act: 'invoice' })}>{t.invoice}</Menu.Item>
    ),
    c.status === 'blocked' && may('POST /subscribers/{id}/unblock') && (
      <Menu.Item key="unblock" leftSection={<Ban size={14} aria-hidden />} onClick={() => begin({ act: 'unblock' })}>{t.unblock}</Menu.Item>
    ),
    c.status === 'active' && may('POST /subscribers/{id}/block') && (
      <Menu.Item key="block" color="red" leftSection={<Ban size={14} aria-hidden />} onClick={() => begin({ act: 'block' })}>{t.block}</Menu.Item>
    ),
  ].filter(Boolean)
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
      {items.length > 0 && (
        <Menu position="bottom-end">
          <Menu.Target>
            <ActionIcon aria-label={t.more} size={30} variant="default"><EllipsisVertical size={16} aria-hidden /></ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>{items}</Menu.Dropdown>
        </Menu>
      )}
    </>
  )
}
