package accessjobs_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/jobs/access"
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
	"github.com/lastmile-isp/lastmile/radius"
	"github.com/lastmile-isp/lastmile/radius/directory"
)

// TestFew_ARouterWithManyStrangersHasSomeAndOneForTheRest: what is recorded stays, whatever comes before it.
func TestFew_ARouterWithManyStrangersHasSomeAndOneForTheRest(t *testing.T) {
	t.Parallel()
	town := newTown()
	town.add("amina", entitlement.Full, false, true)
	town.shown.Queues = nil // hers is a difference of its own
	stranger := func(i int) routerplan.ObservedSession {
		return routerplan.ObservedSession{
			User: fmt.Sprint("stranger", i), Key: fmt.Sprint(i), Radius: i%2 == 0, Uptime: time.Hour,
		}
	}
	recorded := func(list []accessjobs.Found) (rows []accessviews.DifferenceRow) {
		for _, f := range list {
			rows = append(rows, accessviews.DifferenceRow{ID: f.DifferenceID})
		}
		return rows
	}
	for i := range 100 {
		town.shown.Sessions = append(town.shown.Sessions, stranger(i))
	}
	first := accessjobs.FewForTest(town.shown, town.known, nil)
	if len(first) != 101 {
		t.Fatalf("%d differences of 100 strangers and one customer", len(first))
	}
	for i := 100; i < 10_000; i++ {
		town.shown.Sessions = append(town.shown.Sessions, stranger(i))
	}
	second := accessjobs.FewForTest(town.shown, town.known, recorded(first))
	if len(second) != 102 {
		t.Fatalf("%d differences of 10,000 strangers and one customer", len(second))
	}
	for _, f := range first {
		if !slices.ContainsFunc(second, func(g accessjobs.Found) bool { return g.DifferenceID == f.DifferenceID }) {
			t.Errorf("%s is left out, although it is recorded", f.Actual)
		}
	}
	more := second[len(second)-1]
	if more.Actual != "more than 100 sessions that nobody here let in" || more.ByHand() == "" ||
		more.Kind != events.UnknownSession || more.OrgID != town.known.Org || more.DeviceID != town.known.Device {
		t.Errorf("%+v", more)
	}
	third := accessjobs.FewForTest(town.shown, town.known, recorded(second))
	if len(third) != 102 || third[len(third)-1].DifferenceID != more.DifferenceID {
		t.Errorf("%d differences, and the last one is %+v", len(third), third[len(third)-1])
	}
}

// TestFew_EachCustomerWhoseReportsDoNotComeIsShown, however many they are: they are no sessions of nobody. More
// sessions of one customer are bounded, since a router can make them up.
func TestFew_EachCustomerWhoseReportsDoNotComeIsShown(t *testing.T) {
	t.Parallel()
	town := newTown()
	town.known.Limit = func(id.Subscription) int { return 1 }
	town.shown.Asks.PPP = true
	for i := range 150 {
		town.add(fmt.Sprint("customer", i), entitlement.Full, false, false)
	}
	town.known.Open = nil
	if list := accessjobs.FewForTest(town.shown, town.known, nil); len(list) != 150 {
		t.Errorf("%d differences of 150 customers", len(list))
	}
	for i := range 10_000 {
		town.shown.Sessions = append(town.shown.Sessions, routerplan.ObservedSession{
			User: "customer0", Key: fmt.Sprint(i), MAC: fmt.Sprintf("02:00:00:01:%02X:%02X", i>>8, i&255), Radius: true,
			Uptime: 2 * time.Hour,
		})
	}
	if list := accessjobs.FewForTest(town.shown, town.known, nil); len(list) != 251 {
		t.Errorf("%d differences of 150 customers, one of whom has 10,000 sessions", len(list))
	}
}

// TestCompare_NoTextOfARouterReachesAnotherOrganizationOrIsLong: whatever a router shows, a difference is one of the
// router's organization, names only customers of it, and has sentences that people can read.
func TestCompare_NoTextOfARouterReachesAnotherOrganizationOrIsLong(t *testing.T) {
	t.Parallel()
	text := rapid.OneOf(rapid.String(), rapid.StringN(0, 5000, -1), rapid.SampledFrom([]string{
		"amina", "<script>alert(1)</script>", "\x00\n", "lan", "9223372036854775807G/-1", "100.64.0.1",
	}))
	rapid.Check(t, func(t *rapid.T) {
		town := drawTown(t)
		ours := map[id.Subscription]bool{{}: true}
		for _, s := range town.known.Open {
			ours[s.SubscriptionID] = true
		}
		for range rapid.IntRange(1, 5).Draw(t, "rows") {
			town.shown.Sessions = append(town.shown.Sessions, routerplan.ObservedSession{
				Hotspot: rapid.Bool().Draw(t, "hotspot"), User: text.Draw(t, "user"), Key: text.Draw(t, "key"),
				Interface: text.Draw(t, "interface"), Radius: rapid.Bool().Draw(t, "radius"),
				Bypass: rapid.Bool().Draw(t, "bypass"), Uptime: time.Duration(rapid.Int64().Draw(t, "uptime")),
			})
			town.shown.Queues = append(town.shown.Queues, routerplan.ObservedQueue{
				Target: text.Draw(t, "target"), Limit: text.Draw(t, "limit"),
			})
			town.shown.Ports = append(town.shown.Ports, routerplan.ObservedPort{
				Server: text.Draw(t, "server"), Name: text.Draw(t, "port"), Rate: rapid.Int64().Draw(t, "rate"),
			})
		}
		for _, f := range accessjobs.FewForTest(town.shown, town.known, nil) {
			if f.OrgID != town.known.Org || f.DeviceID != town.known.Device || !ours[f.SubscriptionID] {
				t.Fatalf("a difference of somebody else: %+v", f)
			}
			if len(f.Actual) > 2000 || !utf8.ValidString(f.Actual) || strings.ContainsAny(f.Actual, "\x00") {
				t.Fatalf("actual %q", f.Actual)
			}
		}
	})
}

// TestCompare_ARefusalThatLastsIsForPeople, and one whose cause is over is not.
func TestCompare_ARefusalThatLastsIsForPeople(t *testing.T) {
	t.Parallel()
	for code, byHand := range map[string]bool{
		string(directory.CodeWrongPassword): true, string(directory.CodeWrongMAC): true,
		string(directory.CodeNoProof): true, string(directory.CodeBadRequest): true,
		string(directory.CodeTooManyCodes): true, radius.WrongSecret.String(): true, radius.Unproven.String(): true,
		string(directory.CodeUnpaid): false, string(directory.CodeBlocked): false, string(directory.CodePaused): false,
		string(directory.CodeSessionLimit): false,
	} {
		town := newTown()
		town.add("amina", entitlement.Full, false, false)
		town.known.Refused = []telemetry.Refusal{{
			SubscriptionID: town.known.Open[0].SubscriptionID, Code: code, FirstAt: noon.Add(-time.Hour),
			At: noon.Add(-time.Hour),
		}}
		got := accessjobs.Compare(town.shown, town.known)
		if len(got) != 1 || got[0].Kind != events.PaidButOffline || (got[0].ByHand() != "") != byHand {
			t.Errorf("%s: %+v", code, got)
		}
	}
}

// TestCompare_ADeviceThatGoesOnDialingIsFound: devices dial every some seconds for as long as they are refused, so the
// latest refusal is always young. What was refused for want of an entitlement is let in with the next try.
func TestCompare_ADeviceThatGoesOnDialingIsFound(t *testing.T) {
	t.Parallel()
	const young = 20 * time.Second
	for what, c := range map[string]struct {
		code          directory.Code
		first, latest time.Duration // ago
		found         bool
	}{
		"for five hours":                 {directory.CodeWrongPassword, 5 * time.Hour, young, true},
		"since yesterday":                {directory.CodeWrongMAC, 13 * time.Hour, young, true},
		"for a minute":                   {directory.CodeWrongPassword, time.Minute, young, false},
		"too often, for an hour":         {directory.CodeTooManyCodes, time.Hour, young, true},
		"paid a moment ago":              {directory.CodeUnpaid, 5 * time.Hour, young, false},
		"paid, and does not dial":        {directory.CodeUnpaid, 5 * time.Hour, 3 * time.Minute, true},
		"not blocked any more":           {directory.CodeBlocked, 5 * time.Hour, young, false},
		"tried once, and is not dialing": {directory.CodeWrongPassword, 5 * time.Hour, 5 * time.Hour, true},
	} {
		town := newTown()
		town.add("amina", entitlement.Full, false, false)
		town.known.Refused = []telemetry.Refusal{{
			SubscriptionID: town.known.Open[0].SubscriptionID, Code: string(c.code), FirstAt: noon.Add(-c.first),
			At: noon.Add(-c.latest), Count: 600,
		}}
		if got := accessjobs.Compare(town.shown, town.known); (len(got) == 1) != c.found {
			t.Errorf("%s: %+v", what, got)
		}
	}
}
