/** isSlug reports whether a text is one label of a host name, as an organization's short name must be. */
export const isSlug = (text: string) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(text)

/** slugFor proposes a short name for a name: "Acme Networks Ltd." gives "acme-networks-ltd". */
export function slugFor(name: string): string {
  const plain = name.normalize('NFKD').replace(/[\u0300-\u036f]/g, '').toLowerCase()
  return plain.replace(/[^a-z0-9]+/g, '-').slice(0, 40).replace(/^-+|-+$/g, '')
}

/** addressOf is where an organization's staff signs in. */
export const addressOf = (slug: string) => `${location.protocol}//${slug}.${location.host}/app/`
