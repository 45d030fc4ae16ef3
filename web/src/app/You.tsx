import { ActionIcon } from '@mantine/core'
import { type ComponentType, useState } from 'react'
import { appText } from '../text/app'
import { useText } from '../text/catalogue'
import { User } from '../ui/icons'
import type { PersonMenuProps } from './PersonMenu'

const menu = () => import('./PersonMenu').then((m) => m.PersonMenu)

/** You is the button of the person's menu, which is read when somebody comes near the button. */
export function You({ onCalls }: { onCalls: () => void }) {
  const t = useText(appText)
  const [Menu, setMenu] = useState<ComponentType<PersonMenuProps> | null>(null)
  if (Menu) return <Menu onCalls={onCalls} />
  const near = () => void menu().catch(() => undefined)
  return (
    <ActionIcon
      aria-label={t.you}
      aria-haspopup="menu"
      aria-expanded={false}
      size="lg"
      onPointerEnter={near}
      onFocus={near}
      onClick={() => void menu().then((read) => setMenu(() => read), () => undefined)}
    >
      <User size={18} aria-hidden />
    </ActionIcon>
  )
}
