package breaker

// OpenError is the cause of a refused call. It is no failure of the target's own: nothing was sent.
type OpenError struct {
	Kind, Target string
	Last         string // the newest counted failure of the target
}

// Error is for the log: it names the target by its id.
func (e *OpenError) Error() string {
	return "breaker of " + e.Kind + " " + e.Target + " is open: " + e.Last
}
