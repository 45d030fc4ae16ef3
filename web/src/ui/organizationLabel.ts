import { isolated } from '../text/isolated'

/** NamedOrganization is an organization as the platform names it: several may have one name, none another's slug. */
export interface NamedOrganization {
  name: string
  slug: string
}

/** organizationLabel names an organization where only text stands, as in a field: Demo Networks (demo). */
export const organizationLabel = (o: NamedOrganization) => `${isolated(o.name)} (${o.slug})`
