package accessjobs

import (
	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/projections/access"
)

// FewForTest compares a router, and leaves out what is too much beside what is recorded.
func FewForTest(o routerplan.Observed, k Known, recorded []accessviews.DifferenceRow) []Found {
	return few(Compare(o, k), k, recorded)
}

// ByHand tells a person about a difference that the button cannot end; "" = it can.
func (f Found) ByHand() string { return f.byHand }

// Let reports whether a difference is of a session whose reports do not come, and which may be ended unasked.
func (f Found) Let() bool { return f.silent != nil && f.silent.let }
