import { usePerson } from '../../app/person'
import { OrganizationHome } from './OrganizationHome'
import { PlatformHome } from './PlatformHome'

/** HomePage answers: is everything all right? */
export default function HomePage() {
  return usePerson().platform ? <PlatformHome /> : <OrganizationHome />
}
