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
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/usecases/books"
)

// nights is a nightly check over a log in memory, which counts how often the books of organizations are read.
type nights struct {
	*nightlyBooks
	clock *clock.Manual
	log   []events.Envelope
	fails error
	reads int
	text  bytes.Buffer
}

// newNights makes one with an organization in Nairobi and one in New York, at noon in UTC.
func newNights() *nights {
	n := &nights{clock: clock.NewManual(time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC))}
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
	doctor := bookscases.Doctor{
		Clock: n.clock, Patience: bookscases.Patience, Read: n.read,
		Claims: func(kind, value string) uuid.UUID { return uuid.NewSHA1(uuid.NameSpaceURL, []byte(kind+value)) },
	}
	n.nightlyBooks = newNightlyBooks(doctor, n.clock, nil, slog.New(slog.NewJSONHandler(&n.text, nil)))
	n.again = 0
	n.leads(true)
	return n
}

// read gives the log. A reading of whole books wants unique values, and may fail.
func (n *nights) read(_ context.Context, wants func(events.Event) bool, take func(events.Envelope)) error {
	if wants(events.ClaimTaken{}) {
		n.reads++
		if n.fails != nil {
			return n.fails
		}
	}
	for _, e := range n.log {
		if wants(e.Event) {
			take(e)
		}
	}
	return nil
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
	n := newNights()
	if got := n.metric(t, codeUnchecked); got != 1 {
		t.Errorf("before the first check %v count as unchecked, want 1", got)
	}
	for _, step := range []struct {
		at    string
		reads int // organizations with faults are read twice; the platform has none
	}{
		{"2026-03-02T12:00:00Z", 5}, // all, and the platform
		{"2026-03-02T23:59:00Z", 5},
		{"2026-03-03T00:00:00Z", 7},  // 3 o'clock in Nairobi
		{"2026-03-03T03:00:00Z", 8},  // of the platform, by UTC
		{"2026-03-03T07:59:00Z", 8},  // still night in New York
		{"2026-03-03T08:00:00Z", 10}, // 3 o'clock there
		{"2026-03-03T20:00:00Z", 10},
		{"2026-03-09T20:00:00Z", 15}, // after a move of the clock: once each
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
	n := newNights()
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
	n.leads(false)
	if got := n.metric(t, codeUnchecked); got != -1 {
		t.Errorf("a program that does not check shows %v", got)
	}
}
