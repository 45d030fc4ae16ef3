import { ActionIcon, Button, Menu, Modal, Stack, Text, useMantineColorScheme } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { appText } from '../text/app'
import { type Language, languages, speak, useLanguage, useText } from '../text/catalogue'
import { Check, LogOut, ScrollText, Terminal, User } from '../ui/icons'
import { useOpened } from '../ui/OpenedMenu'
import { ProblemNote } from '../ui/ProblemNote'
import { usePerson } from './person'
import { forgetRecent } from './recent'
import { openStaff, useSignOut } from './useSignOut'

const schemes = ['auto', 'light', 'dark'] as const

/** PersonMenuProps are what You gives to the menu that takes its place. */
export interface PersonMenuProps {
  onCalls: () => void
}

/** PersonMenu has what belongs to the person and not to the organization. It is open when it takes its button's place. */
export function PersonMenu({ onCalls }: PersonMenuProps) {
  const t = useText(appText)
  const [open, setOpen] = useOpened()
  const language = useLanguage()
  const { me } = usePerson()
  const queries = useQueryClient()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const out = useSignOut(() => {
    forgetRecent(me.id ?? '')
    queries.clear()
    openStaff()
  })
  const mark = (on: boolean) => (on ? <Check size={14} aria-hidden /> : <span style={{ width: 14 }} />)
  return (
    <>
      <Menu position="bottom-end" width={240} withinPortal={false} opened={open} onChange={setOpen}>
        <Menu.Target>
          <ActionIcon aria-label={t.you} size="lg" autoFocus>
            <User size={18} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown mah="calc(100dvh - 56px)" style={{ overflowY: 'auto' }}>
          <Menu.Label>
            <Text size="sm" truncate>{[me.firstName, me.lastName].filter(Boolean).join(' ')}</Text>
            <Text size="xs" truncate>{me.email}</Text>
          </Menu.Label>
          <Menu.Item component={Link} to="/account" leftSection={<User size={14} aria-hidden />}>{t.you}</Menu.Item>
          <Menu.Item onClick={onCalls} leftSection={<Terminal size={14} aria-hidden />}>{t.calls}</Menu.Item>
          <Menu.Item component="a" href="/docs" target="_blank" leftSection={<ScrollText size={14} aria-hidden />}>
            {t.apiReference}
          </Menu.Item>
          <Menu.Label>{t.language}</Menu.Label>
          {(Object.keys(languages) as Language[]).map((l) => (
            <Menu.Item key={l} onClick={() => void speak(l)} leftSection={mark(l === language)} lang={l}>
              {languages[l]}
            </Menu.Item>
          ))}
          <Menu.Label>{t.scheme}</Menu.Label>
          {schemes.map((s) => (
            <Menu.Item key={s} onClick={() => setColorScheme(s)} leftSection={mark(s === colorScheme)}>{t[s]}</Menu.Item>
          ))}
          <Menu.Divider />
          <Menu.Item
            onClick={out.signOut}
            disabled={out.pending}
            closeMenuOnClick={false}
            leftSection={<LogOut size={14} aria-hidden />}
          >
            {out.pending ? t.signingOut : t.signOut}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Modal
        opened={out.problem !== null}
        onClose={out.gone ? out.leave : out.again}
        title={out.gone ? t.signedOutHere : t.signOutFailed}
      >
        <Stack align="flex-start">
          {!out.gone && <Text size="sm">{t.signOutFailedHint}</Text>}
          <ProblemNote of={out.problem} retry={out.gone ? undefined : out.signOut} />
          {out.gone && <Button onClick={out.leave}>{t.toSignIn}</Button>}
        </Stack>
      </Modal>
    </>
  )
}
