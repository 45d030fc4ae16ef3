package subscribersviews

// ListSQL lets tests outside of the package explain the statement of a list.
var ListSQL = listSQL

// CustomersByVersionSQL lets tests outside of the package explain the statement of the counts of plans.
const CustomersByVersionSQL = customersByVersionSQL

// WholeSQL lets tests outside of the package explain the statement of Whole.
var WholeSQL = wholeSQL

// FindSQL and FindSubscriptions let tests outside of the package explain the statements of searches.
var (
	FindSQL           = findSQL
	FindSubscriptions = findSubscriptions
)

// Text lets tests outside of the package have the names of tables in a statement.
func (q SubscribersQuery) Text(sql string) string { return q.text(sql) }

// AccessSQL is the access that lists are filtered by.
const AccessSQL = accessSQL

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

// PayerFindSQL is the statement of LikePayer.
var PayerFindSQL = &payerFindSQL
