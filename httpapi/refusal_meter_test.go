package httpapi_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/vault"
)

// kept is a Refusals that keeps what it is told.
type kept struct{ list []httpapi.Refusal }

// Note keeps the refusal.
func (k *kept) Note(_ context.Context, r httpapi.Refusal, _ commands.Meta) error {
	k.list = append(k.list, r)
	return nil
}

// refusedTo is the metadata of a refused request of a user at an organization.
func refusedTo(user string, org id.Organization) commands.Meta {
	return commands.Meta{
		CommandID: id.New[id.Command](), OrgID: org, Actor: events.Actor{Kind: events.ActorUser, ID: user},
	}
}

func TestRefusals_AtMostSixtyAMinuteForAUserAndTheRestIsCounted(t *testing.T) {
	t.Parallel()
	c := clock.NewManual(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC))
	to := &kept{}
	meter := httpapi.NewRefusalMeter(to, vault.NewLocalLimits(c), c, slog.New(slog.DiscardHandler))
	acme, other := id.New[id.Organization](), id.New[id.Organization]()
	note := func(user string, org id.Organization, times int, code string) {
		t.Helper()
		for range times {
			r := httpapi.Refusal{Method: "POST", Route: "/plans", Status: 409, Code: code, Count: 1}
			if err := meter.Note(t.Context(), r, refusedTo(user, org)); err != nil {
				t.Fatal(err)
			}
		}
	}
	note("ada", acme, 500, "first")
	note("ada", acme, 1, "last")
	if len(to.list) != httpapi.RefusalsAMinute-1 {
		t.Errorf("%d records at once", len(to.list))
	}
	note("ada", other, 2, "elsewhere")
	note("olga", other, 1, "her own")
	if n := len(to.list); n != httpapi.RefusalsAMinute || to.list[n-1].Code != "her own" {
		t.Errorf("another user is not recorded: %d", n)
	}
	c.Advance(time.Minute)
	meter.Flush(t.Context(), c.Now().Add(-time.Minute))
	total, last := 0, map[string]int{}
	for _, r := range to.list {
		total += r.Count
		last[r.Code] = r.Count
	}
	if total != 504 || last["last"] != 501-59 || last["elsewhere"] != 2 || len(to.list) != 62 {
		t.Errorf("%d records stand for %d refusals: %v", len(to.list), total, last)
	}
	meter.Flush(t.Context(), c.Now())
	if len(to.list) != 62 {
		t.Error("a count was recorded twice")
	}
}

func TestRefusals_AStoppingProgramRecordsItsCounts(t *testing.T) {
	t.Parallel()
	c := clock.NewManual(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC))
	to := &kept{}
	meter := httpapi.NewRefusalMeter(to, away{}, c, slog.New(slog.DiscardHandler))
	if err := meter.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 3 { // nobody can say how many there were
		r := httpapi.Refusal{Method: "POST", Route: "/plans", Status: 409, Code: "x", Count: 1}
		if err := meter.Note(t.Context(), r, refusedTo("ada", id.Organization{})); err != nil {
			t.Fatal(err)
		}
	}
	meter.Stop()
	if len(to.list) != 1 || to.list[0].Count != 3 {
		t.Errorf("recorded %+v", to.list)
	}
}

// away is a Limiter whose counters cannot be reached.
type away struct{}

// Allow always fails.
func (away) Allow(context.Context, string, int, time.Duration) (bool, time.Duration, error) {
	return false, 0, errors.New("no database")
}
