package subscriberscases

import (
	"slices"
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// TestLogins_RoutesAndPrefixOfARouterAreProposed, and those that no customer can have are told and left out.
func TestLogins_RoutesAndPrefixOfARouterAreProposed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		routes []string
		prefix string
		taken  bool
	}{
		"both":           {[]string{"203.0.113.0/29", "192.168.7.0/24"}, "2001:db8:5::/48", true},
		"everything":     {[]string{"0.0.0.0/0"}, "", false},
		"the platform's": {[]string{"10.50.7.0/24"}, "", false},
		"a wide prefix":  {nil, "2001:db8::/32", false},
	} {
		var of Proposal
		m := newProposalMaker(&of)
		m.login(routerplan.CustomerLogin{
			Name: "amina", Service: "pppoe", Password: "p", Profile: "home", Routes: c.routes, Prefix: c.prefix,
		})
		told := slices.ContainsFunc(of.Notes, func(n ProposalNote) bool {
			return n.Code == NoteRoutes || n.Code == NoteIPv6Prefix
		})
		got := m.customers[0]
		if told == c.taken || c.taken && (!slices.Equal(got.Routes, c.routes) || got.Prefix != c.prefix) ||
			!c.taken && (len(got.Routes) > 0 || got.Prefix != "") {
			t.Errorf("%s: %+v, %+v", name, got, of.Notes)
		}
	}
}

// TestImportRow_HasRoutesAndPrefix in the form in which services have them.
func TestImportRow_HasRoutesAndPrefix(t *testing.T) {
	t.Parallel()
	a := importRow{Prefix: "2001:DB8:5::/48", Routes: list("203.0.113.0/29 | 198.51.100.7", asWritten, 16)}.addresses()
	if a.StaticIPv6Prefix.Reveal() != "2001:db8:5::/48" ||
		!slices.Equal(personal.RevealAll(a.Routes), []string{"203.0.113.0/29", "198.51.100.7/32"}) {
		t.Errorf("%+v", a)
	}
}
