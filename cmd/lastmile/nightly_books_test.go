package main

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/usecases/books"
)

// nights is a nightly check over a log in memory, which counts how often books are read.
type nights struct {
	*nightlyBooks
	atOnce  int // how many organizations are read together
	storage *storage
	clock   *clock.Manual
	log     []events.Envelope
	fails   error
	stop    context.CancelFunc // called by the reading number stopAt, as when the program is stopped in it
	stopAt  int
	reads   int
	text    bytes.Buffer
}

// newNights makes one with an organization in Nairobi and one in New York, at noon in UTC.
func newNights(t *testing.T) *nights {
	t.Helper()
	n := &nights{atOnce: bookscases.AtOnce, clock: clock.NewManual(time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC))}
	db := pgtest.New(t)
	n.storage = &storage{db: db, vault: coretest.OpenVault(t, vault.Config{DB: db, Clock: n.clock})}
	for slug, zone := range map[string]string{"acme": "Africa/Nairobi", "apple": "America/New_York"} {
		org := id.New[id.Organization]()
		n.log = append(n.log, events.Envelope{
			Stream: "organization-" + org.String(),
			Event: events.OrganizationCreated{
				OrgID: org, Slug: slug, Billing: events.BillingSettings{Timezone: zone},
			},
			Meta: events.Metadata{AggregateID: id.As[id.Any](org), OrgID: org},
		})
	}
	n.restart(t)
	return n
}

// oneByOne has each organization read on its own from the next start on, as if they were large.
func (n *nights) oneByOne(t *testing.T) {
	t.Helper()
	n.atOnce = 1
	n.restart(t)
}

// restart replaces the check by that of a program which starts now.
func (n *nights) restart(t *testing.T) {
	t.Helper()
	doctor := bookscases.Doctor{
		Clock: n.clock, Patience: bookscases.Patience, Read: n.read, AtOnce: n.atOnce,
		Claims: func(kind, value string) uuid.UUID { return uuid.NewSHA1(uuid.NameSpaceURL, []byte(kind+value)) },
	}
	n.nightlyBooks = newNightlyBooks(doctor, n.clock, n.storage, slog.New(slog.NewJSONHandler(&n.text, nil)))
	n.again = 0
	n.leads(t.Context(), true)
}

// read gives the log. A reading of whole books wants numbers, and may fail.
func (n *nights) read(
	ctx context.Context, after uint64, wants func(events.Event) bool, take func(events.Envelope),
) (uint64, error) {
	if wants(events.NumberGranted{}) {
		if n.reads++; n.reads == n.stopAt {
			n.stop()
			return 0, ctx.Err()
		}
		if n.fails != nil {
			return 0, n.fails
		}
	}
	for _, e := range n.log[after:] {
		if wants(e.Event) {
			take(e)
		}
	}
	return uint64(len(n.log)), nil
}

// metric is the value of one code; -1 when it is not shown.
func (n *nights) metric(t *testing.T, code string) float64 {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(n)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if m.GetLabel()[0].GetValue() == code {
				return m.GetGauge().GetValue()
			}
		}
	}
	return -1
}

// TestNightlyBooks_AreCheckedOnceInEachLocalNight: all at first, then each from three o'clock of its own time.
func TestNightlyBooks_AreCheckedOnceInEachLocalNight(t *testing.T) {
	t.Parallel()
	n := newNights(t)
	if got := n.metric(t, codeUnchecked); got != 1 {
		t.Errorf("before the first check %v count as unchecked, want 1", got)
	}
	for _, step := range []struct {
		at    string
		reads int // those with faults are read twice; the platform has none
	}{
		{"2026-03-02T12:00:00Z", 2}, // all and the platform together
		{"2026-03-02T23:59:00Z", 2},
		{"2026-03-03T00:00:00Z", 4}, // 3 o'clock in Nairobi
		{"2026-03-03T03:00:00Z", 5}, // of the platform, by UTC
		{"2026-03-03T07:59:00Z", 5}, // still night in New York
		{"2026-03-03T08:00:00Z", 7}, // 3 o'clock there
		{"2026-03-03T20:00:00Z", 7},
		{"2026-03-09T20:00:00Z", 9}, // after a move of the clock: once each
	} {
		at, err := time.Parse(time.RFC3339, step.at)
		if err != nil {
			t.Fatal(err)
		}
		n.clock.Set(at)
		n.round(t.Context())
		if n.reads != step.reads {
			t.Errorf("at %s: %d readings, want %d", step.at, n.reads, step.reads)
		}
	}
	if got := n.metric(t, string(bookscases.ClaimMissing)); got != 4 {
		t.Errorf("%v missing claims, want those of slug and prefix of two: %s", got, n.text.String())
	}
	if got := n.metric(t, codeUnchecked); got != 0 {
		t.Errorf("%v unchecked, want 0", got)
	}
	if !strings.Contains(n.text.String(), `"msg":"fault in the books"`) {
		t.Errorf("the log has no line for a fault: %s", n.text.String())
	}
}

// TestNightlyBooks_ThatCannotBeCheckedAreAnAlarmAndTriedAgain: the metric counts them, and the next round tries again.
func TestNightlyBooks_ThatCannotBeCheckedAreAnAlarmAndTriedAgain(t *testing.T) {
	t.Parallel()
	n := newNights(t)
	n.fails = errors.New("no log")
	n.round(t.Context())
	if got := n.metric(t, codeUnchecked); got != 3 {
		t.Errorf("%v unchecked, want two organizations and the platform", got)
	}
	n.fails = nil
	n.round(t.Context())
	if got := n.metric(t, codeUnchecked); got != 0 {
		t.Errorf("%v unchecked after the log answers again, want 0", got)
	}
	n.leads(t.Context(), false)
	if got := n.metric(t, codeUnchecked); got != -1 {
		t.Errorf("a program that does not check shows %v", got)
	}
}

// TestNightlyBooks_WhatWasFoundIsKeptWhenTheProgramIsStoppedInTheSecondLook: the platform has no fault and needs none.
func TestNightlyBooks_WhatWasFoundIsKeptWhenTheProgramIsStoppedInTheSecondLook(t *testing.T) {
	t.Parallel()
	n := newNights(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	n.stop, n.stopAt = stop, 2
	n.round(ctx)
	if got := n.metric(t, codeUnchecked); got != 2 {
		t.Errorf("%v unchecked, want the two organizations with faults", got)
	}
	if text := n.text.String(); strings.Contains(text, "books not checked") {
		t.Errorf("a program that is stopped complains: %s", text)
	}
	n.restart(t)
	n.round(t.Context())
	if got := n.metric(t, codeUnchecked); got != 0 || n.reads != 4 {
		t.Errorf("%v unchecked after %d readings, want 0 after two more", got, n.reads)
	}
}

// TestNightlyBooks_AnOrganizationWhoseTurnHasNotComeCountsAsNotChecked: each reading is of the whole log, so the last
// turn of large organizations comes hours after the first.
func TestNightlyBooks_AnOrganizationWhoseTurnHasNotComeCountsAsNotChecked(t *testing.T) {
	t.Parallel()
	n := newNights(t)
	n.oneByOne(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	n.stop, n.stopAt = stop, 3 // the first one has faults and is read twice
	n.round(ctx)
	if got := n.metric(t, codeUnchecked); got != 2 {
		t.Errorf("one of two organizations and the platform was checked, and not_checked is %v", got)
	}
	if got := n.metric(t, string(bookscases.ClaimMissing)); got != 2 {
		t.Errorf("%v missing claims are shown, want those of the one that was checked", got)
	}
	n.round(t.Context())
	if got := n.metric(t, codeUnchecked); got != 0 {
		t.Errorf("%v unchecked after all turns", got)
	}
	n.clock.Set(time.Date(2026, 3, 3, 0, 0, 0, 0, time.UTC)) // 3 o'clock in Nairobi
	if got := n.metric(t, codeUnchecked); got != 1 {
		t.Errorf("%v unchecked when the next night has begun for one, want 1", got)
	}
	if got := n.metric(t, string(bookscases.ClaimMissing)); got != 4 {
		t.Errorf("%v missing claims are shown, want those of the night before", got)
	}
}

// TestNightlyBooks_ARestartNeitherForgetsFaultsNorBeginsFromTheFirst: a program that is stopped in the second check
// each time comes to the last organization all the same.
func TestNightlyBooks_ARestartNeitherForgetsFaultsNorBeginsFromTheFirst(t *testing.T) {
	t.Parallel()
	n := newNights(t)
	n.oneByOne(t)
	n.round(t.Context())
	for day, want := range []float64{2, 1, 0} {
		n.clock.Advance(time.Minute)
		if day == 0 {
			n.clock.Advance(24 * time.Hour)
		}
		n.restart(t)
		if got := n.metric(t, string(bookscases.ClaimMissing)); got != 4 {
			t.Errorf("after a restart %v missing claims are shown", got)
		}
		if got := n.metric(t, codeUnchecked); got != 1 {
			t.Errorf("before its first look a program shows %v unchecked, want 1", got)
		}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		n.reads, n.stop, n.stopAt = 0, stop, 3
		n.round(ctx)
		if got := n.metric(t, codeUnchecked); got != want {
			t.Errorf("after restart %d: %v unchecked, want %v", day, got, want)
		}
	}
}
