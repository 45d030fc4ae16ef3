import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { Import } from './upload'

/** useBegun leads to an import that has begun, or to what a second person has to agree to before. */
export function useBegun() {
  const navigate = useNavigate()
  const queries = useQueryClient()
  return async (made: Import) => {
    await queries.invalidateQueries({ refetchType: 'none' })
    await (made.approvalId
      ? navigate({ to: '/approvals/$id', params: { id: made.approvalId } })
      : navigate({ to: '/imports/$id', params: { id: made.id } }))
  }
}
