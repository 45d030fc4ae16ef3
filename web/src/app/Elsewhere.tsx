import { Button, Group } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { appText } from '../text/app'
import { useText } from '../text/catalogue'
import { elsewhereText } from '../text/elsewhere'
import { Empty } from '../ui/Empty'
import { listOf } from './navigation'
import { usePerson } from './person'

/** Elsewhere is shown in place of a page that this kind of host does not have. */
export function Elsewhere({ path }: { path: string }) {
  const { platform } = usePerson()
  return platform ? <AtOrganization path={path} /> : <AtPlatform />
}

/** AtOrganization is shown on the root host in place of what an organization has. */
function AtOrganization({ path }: { path: string }) {
  const t = useText(elsewhereText)
  const app = useText(appText)
  const receipt = listOf(path) === '/receipts' && path.split('/')[2]
  const action = (
    <Group justify="center" gap="xs">
      <Button component={Link} to="/orgs" variant="default">{app.organizations}</Button>
      {receipt && (
        <Button variant="default" renderRoot={(props) => <Link {...props} to="/suspense" search={{ receipt }} />}>{app.suspense}</Button>
      )}
    </Group>
  )
  return <Empty whole title={t.atOrganization} action={action}>{receipt ? t.receiptHint : t.atOrganizationHint}</Empty>
}

/** AtPlatform is shown on an organization's host in place of what the platform has. */
function AtPlatform() {
  const t = useText(elsewhereText)
  const app = useText(appText)
  return (
    <Empty whole title={t.atPlatform} action={<Button component={Link} to="/" variant="default">{app.goHome}</Button>}>
      {t.atPlatformHint}
    </Empty>
  )
}
