import { type NamedOrganization, organizationLabel } from './organizationLabel'

/** OrganizationName is the name of an organization with its slug quietly beside it: names need not be unique. */
export function OrganizationName({ of }: { of: NamedOrganization }) {
  return (
    <span className="organization-name" title={organizationLabel(of)}>
      <bdi>{of.name}</bdi> <span>{of.slug}</span>
    </span>
  )
}
