package commands

// ReleaseSettledPrefixes gives up the invoice prefixes of before whose invoices are all settled, in every organization.
// Periodic.
type ReleaseSettledPrefixes struct{}

func (ReleaseSettledPrefixes) Kind() string { return "identity_release_settled_prefixes" }

// RecordSessionEnds records the ends of sessions that the vault has revoked and whose event a stop or a failure cut
// off. Periodic.
type RecordSessionEnds struct{}

func (RecordSessionEnds) Kind() string { return "identity_record_session_ends" }
