import { MantineThemeProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { useMemo } from 'react'
import { useText } from '../text/catalogue'
import { uiText } from '../text/ui'

/** Notices are the lines at the corner that say what a write did. Those that come before it is here wait for it. */
export default function Notices() {
  const { close } = useText(uiText)
  // The library draws the button that closes one without a name.
  const named = useMemo(() => ({
    components: { Notification: { defaultProps: { closeButtonProps: { 'aria-label': close } } } },
  }), [close])
  return (
    <MantineThemeProvider theme={named} inherit>
      <Notifications position="bottom-right" limit={4} />
    </MantineThemeProvider>
  )
}
