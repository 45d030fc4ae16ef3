package radius_test

import (
	"fmt"
	"testing"

	layeh "layeh.com/radius"

	"github.com/lastmile-isp/lastmile/radius"
)

// One organization registers thousands of routers at an address, and sends packets with a wrong signature from there.
// Their work is bounded, so that they cost neither another address nor a router that was known there before.
func TestFlood_ManyRoutersAtOneAddressLeaveTheOthers(t *testing.T) {
	t.Parallel()
	calm, behind := router(neighbour), router()
	behind.Claimed, behind.Secret = claims(localhost), secondSecret
	list := []*radius.NAS{calm, behind}
	for i := range 5_000 {
		n := router()
		n.Claimed, n.Secret = claims(localhost), fmt.Appendf(nil, "secret %d", i)
		list = append(list, n)
	}
	u := (&users{}).add(t, calm.Org, "josef", "pw").add(t, behind.Org, "amina", "pw")
	k := start(t, u, newLedger(), radius.Limits{Tries: 200}, list...)
	known := dial(t, localhost, k.server.AccessAddr())
	ask := func(what string) {
		t.Helper()
		a := known.ask(signed(t, pap(t, "amina", "pw", secondSecret), secondSecret), secondSecret)
		if a.Code != layeh.CodeAccessAccept || u.last(t).NAS.ID != behind.ID {
			t.Errorf("%s: %v", what, a.Code)
		}
	}
	ask("before the flood")
	const flood = 50
	for range flood {
		l := dial(t, localhost, k.server.AccessAddr())
		l.send(signed(t, pap(t, "x", "pw", wrongSecret), wrongSecret))
	}
	k.until("access", radius.OverLimit, flood)
	ask("the router that was known")
	quiet := dial(t, neighbour, k.server.AccessAddr())
	if a := quiet.ask(wire(t, pap(t, "josef", "pw", secret)), secret); a.Code != layeh.CodeAccessAccept {
		t.Errorf("another address: %v", a.Code)
	}
	k.server.SetNAS(list)
	ask("after the list was set again")
	moved := *behind
	moved.Secret = []byte("a new one")
	list[1] = &moved
	k.server.SetNAS(list)
	known.send(signed(t, pap(t, "amina", "pw", secondSecret), secondSecret))
	k.until("access", radius.OverLimit, flood+1)
}

// The limit of an address before it is known who sent a packet does not grow with those who claim it.
func TestFlood_TheLimitOfAnAddressDoesNotGrowWithItsClaims(t *testing.T) {
	t.Parallel()
	var list []*radius.NAS
	for i := range 20 {
		n := router()
		n.Claimed, n.Secret = claims(localhost), fmt.Appendf(nil, "secret %d", i)
		list = append(list, n)
	}
	k := start(t, &users{}, newLedger(), radius.Limits{Rate: 50}, list...)
	l := dial(t, localhost, k.server.AccessAddr())
	for range 150 {
		l.send(signed(t, pap(t, "x", "pw", wrongSecret), wrongSecret))
	}
	k.until("access", radius.OverLimit, 50)
}
