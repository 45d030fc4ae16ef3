import { ActionIcon, type ActionIconProps } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { EllipsisVertical } from './icons'

/** Action is a line of an ActionMenu. */
interface Action {
  key: string
  label: string
  icon?: ReactNode
  /** danger = it takes something away. */
  danger?: boolean
  onClick: () => void
}

/** ActionMenuProps are what both forms of an ActionMenu get. */
export interface ActionMenuProps {
  /** label names the menu's button, which shows an icon only. */
  label: string
  actions: Action[]
  button?: ActionIconProps
}

const opened = () => import('./OpenedMenu').then((m) => m.OpenedMenu)

/**
 * ActionMenu is a button that opens a menu. What a menu is made of is read when somebody comes near: most pages are left
 * without one having been opened.
 */
export function ActionMenu(props: ActionMenuProps) {
  const [Opened, setOpened] = useState<Awaited<ReturnType<typeof opened>> | null>(null)
  if (Opened) return <Opened {...props} />
  const near = () => void opened().catch(() => undefined)
  return (
    <ActionIcon
      {...props.button}
      aria-label={props.label}
      aria-haspopup="menu"
      aria-expanded={false}
      onPointerEnter={near}
      onFocus={near}
      onClick={() => void opened().then((menu) => setOpened(() => menu), () => undefined)}
    >
      <EllipsisVertical size={16} aria-hidden />
    </ActionIcon>
  )
}
