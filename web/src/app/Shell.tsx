import { Alert, AppShell, Burger, Button, Group, Text, UnstyledButton } from '@mantine/core'
import { useDisclosure, useHotkeys } from '@mantine/hooks'
import { Link, Outlet, useRouter } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { useLong, useOutdated } from '../api/outdated'
import { useLive, useServed } from '../api/stream'
import { appText } from '../text/app'
import { useText } from '../text/catalogue'
import { problemText } from '../text/problems'
import { searchText } from '../text/search'
import { uiText } from '../text/ui'
import { later } from '../ui/later'
import { PageLink } from '../ui/PageLink'
import { CloudOff, Radio, Search } from '../ui/icons'
import { useIdle } from '../ui/useIdle'
import { above } from '../ui/useKeys'
import { isOld } from '../ui/version'
import { listOf, organizationPlaces, platformPlaces } from './navigation'
import { useMay, usePerson } from './person'
import { PaletteField } from './PaletteField'
import { RememberCustomer } from './recent'
import { usePath } from './usePath'
import { You } from './You'
import './app.css'

// The drawer is read when it is opened first, the palette after the page: what is typed behind the / must not be lost.
const Palette = later(async () => (await import('./Palette')).default, { meanwhile: PaletteField })
const CallsDrawer = later(async () => (await import('./CallsDrawer')).default)

/** Shell is the frame around all pages: navigation, search, the person's menu. */
export function Shell() {
  const t = useText(appText)
  const words = useText(searchText)
  const { me, platform } = usePerson()
  const [menu, { toggle, close }] = useDisclosure()
  const [searching, setSearching] = useState(false)
  const typed = useRef('')
  const [calls, setCalls] = useState(false)
  const { history } = useRouter()
  const path = usePath()
  useEffect(close, [path])
  useEffect(() => void Palette.preload(), [])
  const covered = useCovered()
  useHotkeys([
    ['mod+K', () => setSearching(true)],
    ['/', () => setSearching(true)],
    // Who has come from the search goes back to where he was. What is open above the page closes first.
    ['Escape', () => history.location.state.found && !covered.current && history.back(), { preventDefault: false }],
  ])
  const customer = /\/customers\/([0-9a-f-]{36})$/.exec(path)?.[1]
  return (
    <AppShell
      header={{ height: 48 }}
      navbar={{ width: 208, breakpoint: 'sm', collapsed: { mobile: !menu } }}
      padding={{ base: 'sm', sm: 'md' }}
    >
      <a href="#content" className="skip">{t.skip}</a>
      <AppShell.Header>
        <Group h="100%" px="sm" gap="sm" wrap="nowrap" justify="space-between">
          <Group gap="xs" wrap="nowrap" miw={0}>
            <Burger opened={menu} onClick={toggle} hiddenFrom="sm" size="sm" aria-label={t.menu} />
            <Text component={Link} to="/" fw={600} truncate c="inherit" td="none">
              {me.org?.name ?? 'Lastmile'}
            </Text>
          </Group>
          <UnstyledButton className="search-box" onClick={() => setSearching(true)} aria-keyshortcuts="/ Control+K">
            <Search size={16} aria-hidden />
            <Text span size="sm" c="dimmed" visibleFrom="sm" truncate>{platform ? words.platformHint : t.searchHint}</Text>
            <Text span size="sm" c="dimmed" hiddenFrom="sm">{t.search}</Text>
            <kbd>/</kbd>
          </UnstyledButton>
          <Group gap={4} wrap="nowrap">
            <NewVersion />
            <LiveMark />
            <You onCalls={() => setCalls(true)} />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" component="nav" aria-label={t.menu}>
        <div className="places"><Places platform={platform} path={path} /></div>
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1}>
        <div className="printed" hidden>{me.org?.name}</div>
        <Outlet />
        {customer && <RememberCustomer id={customer} person={me.id ?? ''} />}
      </AppShell.Main>
      <NotLive />
      <PrintStyles />
      {searching && <Palette typed={typed} onClose={() => setSearching(false)} />}
      {calls && <CallsDrawer onClose={() => setCalls(false)} />}
    </AppShell>
  )
}

/** PrintStyles are those of paper. A style sheet that comes while the page is being made has the browser work it out again. */
function PrintStyles() {
  const idle = useIdle()
  useEffect(() => {
    if (idle) void import('./print.css').catch(() => undefined)
  }, [idle])
  return null
}

/** useCovered says whether something lay above the page as a key was pressed, which may have closed it by then. */
function useCovered() {
  const covered = useRef(false)
  useEffect(() => {
    const look = () => {
      covered.current = document.querySelector(above) !== null
    }
    addEventListener('keydown', look, true) // before the listeners of what is opened later
    return () => removeEventListener('keydown', look, true)
  }, [])
  return covered
}

/** Places are the links to the pages that this person may see. */
function Places({ platform, path }: { platform: boolean; path: string }) {
  const t = useText(appText)
  const may = useMay()
  const here = listOf(path)
  // On a low screen the mark may be below what is shown of the menu. Asked in the frame, the browser lays it out once.
  useEffect(() => {
    const mark = () => document.querySelector('.place[aria-current]')?.scrollIntoView({ block: 'nearest' })
    const frame = requestAnimationFrame(mark)
    return () => cancelAnimationFrame(frame)
  }, [here])
  return (platform ? platformPlaces : organizationPlaces).map((group) => {
    const places = group.places.filter((p) => may(p.needs))
    if (places.length === 0) return null
    return (
      <div key={group.name ?? ''} role="group" aria-label={group.name ? t[group.name] : t.menu}>
        {group.name && <Text size="xs" c="dimmed" className="place-group">{t[group.name]}</Text>}
        {places.map((p) => {
          // The page of one row belongs to its list, and is not the list itself.
          const current = p.to === path ? 'page' : p.to === here
          return (
            <PageLink key={p.to} to={p.to} className="place" aria-current={current || undefined}>
              <p.icon size={16} aria-hidden />
              {t[p.name]}
            </PageLink>
          )
        })}
      </div>
    )
  })
}

/** NewVersion offers the pages of a program that was upgraded under this one. Whoever was cut off from it asks. */
function NewVersion() {
  const t = useText(uiText)
  const live = useLive()
  const cut = useRef(false)
  const [old, setOld] = useState(false)
  useEffect(() => {
    if (live === 'broken') cut.current = true
    else if (live === 'live' && cut.current) void isOld().then(setOld)
  }, [live])
  return old && (
    <Button size="compact-sm" variant="light" title={t.newVersionHint} onClick={() => location.reload()}>{t.newVersion}</Button>
  )
}

/** useWhatIsOld gives the words for why what is shown may be old; null = it comes by itself. */
function useWhatIsOld(): { now: string | null; forLong: string | null } {
  const t = useText(appText)
  const problems = useText(problemText)
  const live = useLive()
  const cut = useLong(live === 'broken')
  const unread = useOutdated()
  const unserved = useServed() === 'nothing'
  const away = useLong(unserved)
  if (live === 'suspended') return { now: problems.organization_suspended, forLong: problems.organization_suspended }
  if (live === 'broken') return { now: t.broken, forLong: cut ? t.broken : null }
  return { now: unread || unserved ? t.outdated : null, forLong: unread || away ? t.outdated : null }
}

/** NotLive says that what is shown may be old, once that has been so for longer than a restart of the server takes. */
function NotLive() {
  const { forLong } = useWhatIsOld()
  return forLong && <Alert role="status" color="yellow" p="xs" className="at-bottom">{forLong}</Alert>
}

/** LiveMark tells whether changes come by themselves. */
function LiveMark() {
  const t = useText(appText)
  const live = useLive()
  const { now } = useWhatIsOld()
  const label = now ?? (live === 'connecting' ? t.connecting : t.live)
  return (
    <span role="status" aria-label={label} title={label} className="live" data-state={now ? 'broken' : live}>
      {now ? <CloudOff size={16} aria-hidden /> : <Radio size={16} aria-hidden />}
    </span>
  )
}
