package subscribersviews

// ListSQL lets tests outside of the package explain the statement of a list.
var ListSQL = listSQL

// FindSQL and FindSubscriptions let tests outside of the package explain the statements of searches.
var (
	FindSQL           = findSQL
	FindSubscriptions = findSubscriptions
)

// CausesOf lets tests outside of the package see the types of causes that rows of all events can have.
func CausesOf() map[string]bool {
	types := map[string]bool{}
	for _, e := range timelineEvents {
		for _, h := range happenings(e) {
			if h.causeType != "" { // else it has no row
				types[h.causeType] = true
			}
		}
	}
	return types
}
