import { ActionIcon } from '@mantine/core'
import { type ComponentType, useEffect, useRef, useState } from 'react'
import { appText } from '../text/app'
import { useText } from '../text/catalogue'
import { User } from '../ui/icons'
import { useIdle } from '../ui/useIdle'
import type { PersonMenuProps } from './PersonMenu'

/** You is the button of the person's menu. The menu is read when the page has been drawn, or when it is asked for. */
export function You({ onCalls }: { onCalls: () => void }) {
  const t = useText(appText)
  const idle = useIdle()
  const [asked, setAsked] = useState(false)
  const focused = useRef(false)
  const [Menu, setMenu] = useState<ComponentType<PersonMenuProps> | null>(null)
  useEffect(() => {
    if (idle || asked) void import('./PersonMenu').then((m) => setMenu(() => m.PersonMenu), () => setAsked(false))
  }, [idle, asked])
  if (Menu) return <Menu onCalls={onCalls} opened={asked} focused={focused.current} />
  return (
    <ActionIcon
      aria-label={t.you}
      aria-haspopup="menu"
      size="lg"
      onClick={() => setAsked(true)}
      onFocus={() => (focused.current = true)}
      onBlur={() => (focused.current = false)}
    >
      <User size={18} aria-hidden />
    </ActionIcon>
  )
}
