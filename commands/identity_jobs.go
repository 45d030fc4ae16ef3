package commands

// ReleaseSettledPrefixes gives up the invoice prefixes of before whose invoices are all settled, in every organization.
// Periodic.
type ReleaseSettledPrefixes struct{}

func (ReleaseSettledPrefixes) Kind() string { return "identity_release_settled_prefixes" }
