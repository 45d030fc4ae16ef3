import { ActionIcon, Menu } from '@mantine/core'
import { useEffect, useState } from 'react'
import type { ActionMenuProps } from './ActionMenu'
import { EllipsisVertical } from './icons'

/** OpenedMenu takes the place of an ActionMenu's button when it is pressed first, and has the focus as the button had. */
export function OpenedMenu({ label, actions, button }: ActionMenuProps) {
  const [open, setOpen] = useOpened()
  return (
    <Menu position="bottom-end" opened={open} onChange={setOpen}>
      <Menu.Target>
        <ActionIcon {...button} aria-label={label} autoFocus><EllipsisVertical size={16} aria-hidden /></ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {actions.map((a) => (
          <Menu.Item key={a.key} color={a.danger ? 'var(--tone-bad)' : undefined} leftSection={a.icon} onClick={a.onClick}>{a.label}</Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

/** useOpened is the state of a menu that opens when it has been drawn: its button has the focus then, and gets it back. */
export function useOpened() {
  const state = useState(false)
  const [, setOpen] = state
  useEffect(() => setOpen(true), [setOpen])
  return state
}
