// The pages of this area are read together, so that the first load of all others names one file of them.
export { default as Approval } from './ApprovalPage'
export { default as Approvals } from './ApprovalsPage'
export { default as Corrections } from './CorrectionsPage'
