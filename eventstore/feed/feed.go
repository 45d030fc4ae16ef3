package feed

// Feed is the shared reader. Safe for concurrent use.
type Feed struct{}
