package identityviews_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed/feedtest"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

func TestLetterheads_AreThoseOfTheirTime(t *testing.T) {
	t.Parallel()
	log := feedtest.New()
	r := runner.New(runner.Config{Feed: feedtest.Start(t, log), DB: pgtest.New(t), Clock: clock.NewManual(began)})
	r.Register(identityviews.Letterheads{})
	if err := r.Start(t.Context()); err != nil {
		t.Fatalf("start read models: %v", err)
	}
	t.Cleanup(r.Stop)
	pinned := billing("ACME")
	pinned.TaxPIN = "P051"
	for hours, e := range []events.Event{
		events.OrganizationCreated{OrgID: acme, Slug: "acme", Name: "Acme", Billing: billing("ACME"), CreatedAt: began},
		events.BillingSettingsAdopted{OrgID: acme, Billing: pinned},
		events.OrganizationRenamed{OrgID: acme, Name: "Acme Networks"},
		events.OrganizationCreated{OrgID: other, Slug: "other", Name: "Other", Billing: billing("OTHER")},
	} {
		log.Append(events.Metadata{OrgID: acme, At: began.Add(time.Duration(hours) * time.Hour)}, e)
	}
	head, _ := log.Head(t.Context())
	coretest.WaitFor(t, r.Views(), head, identityviews.LetterheadsName)
	q := identityviews.LetterheadsQuery{Views: r.Views()}
	for after, want := range map[time.Duration]identityviews.Letterhead{
		-time.Hour:           {Name: "Acme", Timezone: "Africa/Nairobi"},
		0:                    {Name: "Acme", Timezone: "Africa/Nairobi"},
		time.Hour - 1:        {Name: "Acme", Timezone: "Africa/Nairobi"},
		time.Hour:            {Name: "Acme", Timezone: "Africa/Nairobi", TaxPIN: "P051"},
		100 * 24 * time.Hour: {Name: "Acme Networks", Timezone: "Africa/Nairobi", TaxPIN: "P051"},
	} {
		got, err := q.At(t.Context(), acme, began.Add(after))
		if err != nil || got == nil || *got != want {
			t.Errorf("after %v: %+v, %v; want %+v", after, got, err, want)
		}
	}
	if got, err := q.At(t.Context(), id.New[id.Organization](), began); got != nil || err != nil {
		t.Errorf("nobody's letterhead: %+v, %v", got, err)
	}
}
