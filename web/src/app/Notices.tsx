import { Notifications } from '@mantine/notifications'

/** Notices are the lines at the corner that say what a write did. Those that come before it is here wait for it. */
export default function Notices() {
  return <Notifications position="bottom-right" limit={4} />
}
