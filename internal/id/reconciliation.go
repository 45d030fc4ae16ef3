package id

// Reconciliation is the id of one statement of the provider that is compared with the receipts.
type Reconciliation = Of[reconciliation]

// reconciliation marks the ids of reconciliations.
type reconciliation struct{}
