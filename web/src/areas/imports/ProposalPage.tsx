import { Alert, Stack } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { api } from '../../api/client'
import { useText } from '../../text/catalogue'
import { proposalsText } from '../../text/proposals'
import { Facts } from '../../ui/Facts'
import { TriangleAlert } from '../../ui/icons'
import { Loaded } from '../../ui/Loaded'
import { Page } from '../../ui/Page'
import { When } from '../../ui/When'
import { Notes } from './Notes'
import { ProposedCustomers } from './ProposedCustomers'
import { ProposedPlans } from './ProposedPlans'
import { RouterName } from './RouterName'

/** ProposalPage answers: what of that which a router knows becomes plans and customers? It may be left and found again. */
export default function ProposalPage() {
  const t = useText(proposalsText)
  const { id } = useParams({ from: '/imports/routers/$id' })
  const read = api.useQuery('get', '/import-proposals/{id}', { params: { path: { id } } })
  return (
    <Page title={t.title}>
      <Loaded read={read} height={320}>
        {(of) => (
          <Stack gap="lg">
            <Facts
              of={[
                [t.router, <RouterName key="router" id={of.deviceId} />],
                [t.readAt, <When key="read" at={of.readAt} />],
                [t.keptUntil, <When key="ends" at={of.endsAt} />],
              ]}
            />
            {of.passwordsHidden && (
              <Alert color="yellow" variant="light" icon={<TriangleAlert size={18} aria-hidden />} maw={760}>{t.hidden}</Alert>
            )}
            <ProposedPlans of={of.plans} />
            <ProposedCustomers of={of} />
            <Notes of={of.notes} count={of.noteCount} />
          </Stack>
        )}
      </Loaded>
    </Page>
  )
}
