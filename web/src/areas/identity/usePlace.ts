import { useQuery } from '@tanstack/react-query'
import { client } from '../../api/client'
import { useText } from '../../text/catalogue'
import { signInText } from '../../text/signin'

/** usePlace tells whose address this is, before anybody has signed in; undefined = not known yet. */
export function usePlace(): { platform: boolean; name: string } | undefined {
  const t = useText(signInText)
  const index = useQuery({
    queryKey: ['get', '/', {}],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => (await client.GET('/', { signal })).data!,
  })
  if (!index.data) return undefined
  const { organization } = index.data
  return { platform: !organization, name: organization || t.platformName }
}
