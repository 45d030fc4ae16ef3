package subscribersviews_test

import (
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/runner/projectiontest"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// TestTimeline_AChangeOfASessionThatCameToNothingBlamesNobody: the router may have been silent, or it may have refused,
// which is told by itself.
func TestTimeline_AChangeOfASessionThatCameToNothingBlamesNobody(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	tables, err := runner.NewScratch(t.Context(), db, subscribersviews.Timeline{}, "enforcement")
	if err != nil {
		t.Fatal(err)
	}
	about := events.EnforcedSession{SessionID: id.New[id.Online](), OrgID: acme, SubscriberID: amina}
	step := events.EnforcementStep{Action: events.EndOnline, Reason: "blocked"}
	placed := step // recorded under its place, and told as that of its session
	placed.Shown = id.New[id.Online]()
	story := projectiontest.NewStory(acme, began).Add("enforcement-1",
		events.SessionChangeAnnounced{EnforcedSession: about, EnforcementStep: step, At: began},
		events.SessionChangeRefused{
			EnforcedSession: about, EnforcementStep: step, Via: events.ViaRouter, Message: "not now", At: began,
		},
		events.SessionChanged{EnforcedSession: about, EnforcementStep: step, Found: true, Lapsed: true, At: began},
		events.SessionChanged{EnforcedSession: about, EnforcementStep: placed, At: began})
	if err := tables.Apply(t.Context(), story.Events()); err != nil {
		t.Fatal(err)
	}
	dump := spokenRows(t, db, tables.Schema()) + projectiontest.Dump(t, db, tables.Schema())
	for _, want := range []string{
		"The router refused to change a session: the customer is blocked.",
		"A change of a session came to nothing: the customer is blocked.", placed.Shown.String(),
	} {
		if !strings.Contains(dump, want) {
			t.Errorf("nothing says %q:\n%s", want, dump)
		}
	}
	if strings.Contains(dump, "did not answer") {
		t.Errorf("a router that answered is told to have been silent:\n%s", dump)
	}
}

// TestTimeline_TellsWhyASessionWasEnded: one that has to make way need not be the older one.
func TestTimeline_TellsWhyASessionWasEnded(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	tables, err := runner.NewScratch(t.Context(), db, subscribersviews.Timeline{}, "reasons")
	if err != nil {
		t.Fatal(err)
	}
	about := events.EnforcedSession{SessionID: id.New[id.Online](), OrgID: acme, SubscriberID: amina}
	wants := map[string]string{
		"expired":       "A session was ended: the paid time is over.",
		"session_limit": "A session was ended: there were more sessions than the plan has.",
		"auditor":       "A session was ended: a person had a difference at the router repaired.",
		"of_tomorrow":   "A session was ended: of tomorrow.",
	}
	story := projectiontest.NewStory(acme, began)
	for reason := range wants {
		story = story.Add("enforcement-"+reason, events.SessionChanged{
			EnforcedSession: about, EnforcementStep: events.EnforcementStep{Action: events.EndOnline, Reason: reason},
			At: began,
		})
	}
	if err := tables.Apply(t.Context(), story.Events()); err != nil {
		t.Fatal(err)
	}
	dump := spokenRows(t, db, tables.Schema())
	for _, want := range wants {
		if !strings.Contains(dump, want) {
			t.Errorf("nothing says %q:\n%s", want, dump)
		}
	}
}
