package cpejobs_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/jobs/cpe"
	"github.com/lastmile-isp/lastmile/projections/cpe"
)

// porch has the list of those that wait, with a clock.
type porch struct {
	*cpejobs.Informs
	t   *testing.T
	now *clock.Manual
}

// newPorch begins with an empty list.
func newPorch(t *testing.T) porch {
	t.Helper()
	now := clock.NewManual(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC))
	informs, err := cpejobs.OpenInforms(t.Context(), pgtest.New(t), now, storetest.Quiet())
	if err != nil {
		t.Fatal(err)
	}
	return porch{Informs: informs, t: t, now: now}
}

// knocks lets a device call from an address, and reports whether it is on the list.
func (p porch) knocks(serial, address string) bool {
	p.t.Helper()
	admitted, err := p.Admit(context.WithoutCancel(p.t.Context()), caller(serial, address), "")
	if err != nil {
		p.t.Fatal(err)
	}
	return admitted
}

// caller is a device that calls from an address.
func caller(serial, address string) commands.CpeCaller {
	return commands.NewCpeCaller(events.CpeIdentity{SerialNumber: serial, OUI: "00AABB"}, address)
}

// list has the serial numbers of those that wait.
func (p porch) list() []string {
	p.t.Helper()
	var serials []string
	for after := (cpeviews.CPEKey{}); ; {
		page, err := p.Pending(p.t.Context(), "", after, 500)
		if err != nil {
			p.t.Fatal(err)
		}
		for _, r := range page {
			serials, after = append(serials, r.SerialNumber), r.Key()
		}
		if len(page) < 500 {
			return serials
		}
	}
}

// TestPending_OneSourceDoesNotFillTheList: whoever invents devices in one network keeps no other one out, and makes
// room itself when its devices do not go on calling.
func TestPending_OneSourceDoesNotFillTheList(t *testing.T) {
	t.Parallel()
	p := newPorch(t)
	for n := range 200 {
		if !p.knocks(fmt.Sprint("INVENTED-", n), fmt.Sprint("10.20.0.", n%250+1)) {
			t.Fatalf("device %d is not on the list", n)
		}
	}
	if p.knocks("INVENTED-200", "10.20.0.251") || !p.knocks("OTHER-1", "10.20.1.1") || !p.knocks("OTHER-2", "") {
		t.Error("the source is not bounded, or keeps others out")
	}
	if !p.knocks("INVENTED-7", "10.20.0.8") {
		t.Error("one that is on the list is refused")
	}
	p.now.Advance(2 * time.Hour)
	for n := 1; n < 200; n++ {
		p.knocks(fmt.Sprint("INVENTED-", n), fmt.Sprint("10.20.0.", n%250+1))
	}
	if !p.knocks("REAL-1", "10.20.0.251") || slices.Contains(p.list(), "INVENTED-0") {
		t.Error("one that does not call any more keeps its place")
	}
}

// TestPending_IsBoundedAsAWhole, also when each invented device tells another network.
func TestPending_IsBoundedAsAWhole(t *testing.T) {
	t.Parallel()
	p := newPorch(t)
	for n := range 2000 {
		if !p.knocks(fmt.Sprint("INVENTED-", n), fmt.Sprintf("10.%d.%d.1", n/200, n%200)) {
			t.Fatalf("device %d is not on the list", n)
		}
	}
	if p.knocks("REAL-1", "192.168.7.1") || len(p.list()) != 2000 {
		t.Error("there is no bound")
	}
	p.now.Advance(time.Hour + time.Minute)
	if !p.knocks("REAL-1", "192.168.7.1") || len(p.list()) != 2000 {
		t.Error("devices that do not call any more keep others out")
	}
}

// TestPending_EndsWhenTheDeviceDoesNotCallAnyMore, or when somebody removes it; a claim and a release take it off the
// list and put it back.
func TestPending_EndsWhenTheDeviceDoesNotCallAnyMore(t *testing.T) {
	t.Parallel()
	p, acme := newPorch(t), id.Derive[id.Organization]("test", "acme")
	for _, serial := range []string{"GONE", "CALLS", "REMOVED", "CLAIMED"} {
		p.knocks(serial, "10.20.0.5")
	}
	removed := caller("REMOVED", "").CpeID
	for _, there := range []bool{true, false} {
		if got, err := p.RemovePending(t.Context(), removed); err != nil || got != there {
			t.Errorf("removed %t, %v", got, err)
		}
	}
	claimed := caller("CLAIMED", "").CpeID
	if err := p.Move(t.Context(), claimed, acme); err != nil {
		t.Fatal(err)
	}
	if got, err := p.RemovePending(t.Context(), claimed); err != nil || got {
		t.Errorf("a claimed device is removed: %t, %v", got, err)
	}
	if got := p.list(); !slices.Equal(sorted(got), []string{"CALLS", "GONE"}) {
		t.Errorf("list %v", got)
	}
	p.now.Advance(10 * 24 * time.Hour)
	p.knocks("CALLS", "10.20.0.5")
	p.now.Advance(10 * 24 * time.Hour)
	if err := p.Move(t.Context(), claimed, id.Organization{}); err != nil {
		t.Fatal(err)
	}
	if got := p.list(); !slices.Equal(sorted(got), []string{"CALLS", "CLAIMED"}) {
		t.Errorf("later the list is %v", got)
	}
	if p.knocks("REMOVED", "10.20.0.5"); !slices.Contains(p.list(), "REMOVED") {
		t.Error("one that calls again is not on the list")
	}
}
