package paymentsjobs_test

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/jobs/payments"
)

// TestKept_WhatWaitsOutlivesAChangeOfTheAllowedSenders: it was acknowledged, and is stored whoever may send now. What
// proved it proves it still. Programs of before did not write what the list proved, as none is written with an empty
// list; the present one proves those.
func TestKept_WhatWaitsOutlivesAChangeOfTheAllowedSenders(t *testing.T) {
	t.Parallel()
	k, dir := newKit(t), t.TempDir()
	token := k.paybillToken(t)
	const former, present = "196.201.214.200", "196.201.213.44"
	r := k.opened(t, dir, true)
	for _, c := range []struct{ list, token, ip, number string }{
		{former + "/32", token, former, "SJK4X7QZ01"},
		{former + "/32", "", former, "SJK4X7QZ02"},
		{"", "", former, "SJK4X7QZ03"},
		{"", "", present, "SJK4X7QZ04"},
	} {
		if r.Receiver.Allowed = nil; c.list != "" {
			r.Receiver.Allowed = []netip.Prefix{netip.MustParsePrefix(c.list)}
		}
		if err := r.confirms(t, c.token, c.ip, c.number); err != nil {
			t.Fatal(err)
		}
	}
	k.waitsOnDisk(t, r, 4)
	r.Kept.Stop()
	next := k.opened(t, dir, false)
	next.Receiver.Allowed = []netip.Prefix{netip.MustParsePrefix(present + "/32")}
	next.Kept.Serve(next.Receiver)
	if err := next.Kept.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	k.waiting(t, next, 4)
	rows, err := k.DB.Owner.Query(t.Context(),
		`select verified from `+k.DB.Namespace.Schema("vault")+`.callbacks where kind = $1 order by id`,
		paymentsjobs.CallbackConfirmation)
	if err != nil {
		t.Fatal(err)
	}
	verified, err := pgx.CollectRows(rows, pgx.RowTo[bool])
	if want := []bool{true, true, false, true}; err != nil || !slices.Equal(verified, want) {
		t.Errorf("verified: %v, want %v, %v", verified, want, err)
	}
}
